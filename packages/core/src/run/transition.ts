import { isFinal, type RunStatus } from "./status.js";

interface Rule {
  readonly from: readonly RunStatus[];
  readonly to: RunStatus;
  /** One line for the picture and the reference. */
  readonly when: string;
}

/** Every change that a run can undergo, by event. Nothing else changes a status; statements take `from` and `to` from here. */
export const runTransitions = {
  due: { from: ["scheduled", "retrying"], to: "queued", when: "its time has come" },
  hold: { from: ["scheduled", "retrying"], to: "blocked", when: "its time has come, but it must wait for admission" },
  admit: { from: ["blocked"], to: "queued", when: "what it waited for has room or is done" },
  reschedule: {
    from: ["scheduled", "blocked", "queued", "retrying"],
    to: "scheduled",
    when: "it gets another time",
  },
  claim: { from: ["queued"], to: "running", when: "a worker takes it, under a new fence" },
  release: { from: ["running"], to: "queued", when: "its worker is lost or drained, or never started it" },
  snooze: { from: ["running"], to: "scheduled", when: "the handler asks to be called later; no attempt is spent" },
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
  cancel: { from: ["scheduled", "blocked", "queued", "running", "retrying"], to: "cancelled", when: "someone ends it" },
  skip: { from: ["scheduled", "blocked", "queued"], to: "skipped", when: "a policy decides that it never runs" },
} as const satisfies Record<string, Rule>;

export type RunEvent = keyof typeof runTransitions;

/** What a run can be born as. */
export const initialRunStatuses = ["scheduled", "blocked", "queued", "skipped"] as const satisfies readonly RunStatus[];

export type RunTransition =
  | { readonly ok: true; readonly status: RunStatus }
  /** final: the run has ended and never changes; impossible: a live run, but not for this event. */
  | { readonly ok: false; readonly refusal: "final" | "impossible" };

/** The only function that changes a status. */
export function transitionRun(status: RunStatus, event: RunEvent): RunTransition {
  const rule: Rule = runTransitions[event];
  if (rule.from.includes(status)) return { ok: true, status: rule.to };
  return { ok: false, refusal: isFinal(status) ? "final" : "impossible" };
}
