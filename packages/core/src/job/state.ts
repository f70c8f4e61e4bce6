interface Rule {
  readonly from: readonly JobState[];
  readonly to: JobState;
  /** One line for the picture and the reference. */
  readonly when: string;
}

/** active: fires; paused: does not for now; completed: nothing left to fire; cancelled: ended by someone, for good. */
export const jobStates = ["active", "paused", "completed", "cancelled"] as const;

export type JobState = (typeof jobStates)[number];

/** Every change of a job's state, by event. Statements take `from` and `to` from here. */
export const jobTransitions = {
  pause: { from: ["active"], to: "paused", when: "someone stops its fires, perhaps until a given time" },
  resume: { from: ["paused"], to: "active", when: "someone lets it fire again, or the pause expires" },
  complete: { from: ["active", "paused"], to: "completed", when: "nothing is left to fire" },
  reactivate: { from: ["completed"], to: "active", when: "a change of its schedule leaves something to fire" },
  cancel: { from: ["active", "paused", "completed"], to: "cancelled", when: "someone ends it" },
} as const satisfies Record<string, Rule>;

export type JobEvent = keyof typeof jobTransitions;

export type JobTransition =
  | { readonly ok: true; readonly state: JobState }
  /** final: the job is cancelled and never changes; impossible: another state, but not one for this event. */
  | { readonly ok: false; readonly refusal: "final" | "impossible" };

/** The only function that changes a job's state. */
export function transitionJob(state: JobState, event: JobEvent): JobTransition {
  const rule: Rule = jobTransitions[event];
  if (rule.from.includes(state)) return { ok: true, state: rule.to };
  return { ok: false, refusal: state === "cancelled" ? "final" : "impossible" };
}
