import { isFinal, type RunStatus } from "./status.js";

interface Rule {
  readonly from: readonly RunStatus[];
  readonly to: RunStatus;
  /** One line for the diagram and the reference. */
  readonly when: string;
}

/** Every transition of a run, by event. Nothing else changes a status; SQL statements take `from` and `to` from here. */
export const runTransitions = {
  due: { from: ["scheduled", "retrying"], to: "queued", when: "its time is reached" },
  hold: { from: ["scheduled", "retrying"], to: "blocked", when: "its time is reached, but it must wait for admission" },
  admit: { from: ["blocked"], to: "queued", when: "a limit has capacity again, or the awaited run has ended" },
  reschedule: {
    from: ["scheduled", "blocked", "queued", "retrying"],
    to: "scheduled",
    when: "a caller or the server sets another time",
  },
  claim: { from: ["queued"], to: "running", when: "a worker claims it under a new fence" },
  release: { from: ["running"], to: "queued", when: "its worker is lost or drained, or never started it" },
  snooze: {
    from: ["running"],
    to: "scheduled",
    when: "the handler asks to be called later; the attempt does not count",
  },
  retry: { from: ["running"], to: "retrying", when: "the attempt failed and another is left" },
  succeed: { from: ["running"], to: "succeeded", when: "the handler finished" },
  fail: {
    from: ["running"],
    to: "failed",
    when: "the attempt failed and none is left, or its deadline passed: a dead letter",
  },
  expire: {
    from: ["scheduled", "blocked", "queued", "retrying"],
    to: "failed",
    when: "its deadline passed before it could start",
  },
  cancel: {
    from: ["scheduled", "blocked", "queued", "running", "retrying"],
    to: "cancelled",
    when: "a caller or a policy cancels it",
  },
  skip: { from: ["scheduled", "blocked", "queued"], to: "skipped", when: "a policy decides that it never runs" },
} as const satisfies Record<string, Rule>;

export type RunEvent = keyof typeof runTransitions;

/** The statuses that a new run can have. */
export const initialRunStatuses = ["scheduled", "blocked", "queued", "skipped"] as const satisfies readonly RunStatus[];

export type RunTransition =
  | { readonly ok: true; readonly status: RunStatus }
  /** final: the run has ended and never changes; impossible: the event does not apply to the status. */
  | { readonly ok: false; readonly refusal: "final" | "impossible" };

/** The only function that computes a new status. */
export function transitionRun(status: RunStatus, event: RunEvent): RunTransition {
  const rule: Rule = runTransitions[event];
  if (rule.from.includes(status)) return { ok: true, status: rule.to };
  return { ok: false, refusal: isFinal(status) ? "final" : "impossible" };
}
