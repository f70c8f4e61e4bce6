import { CarillonError } from "../errors/carillon-error.js";

/** The status of a run. The first five are live, the others final: a run with a final status never changes again. */
export const runStatuses = [
  "scheduled",
  "blocked",
  "queued",
  "running",
  "retrying",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const;

export type RunStatus = (typeof runStatuses)[number];

/** Groups of statuses, for filters. */
export const runStatusGroups = {
  /** Live but not running. */
  pending: ["scheduled", "queued", "blocked", "retrying"],
  live: ["scheduled", "queued", "blocked", "retrying", "running"],
  finished: ["succeeded", "failed", "cancelled", "skipped"],
} as const satisfies Record<string, readonly RunStatus[]>;

export type LiveRunStatus = (typeof runStatusGroups.live)[number];
export type FinalRunStatus = (typeof runStatusGroups.finished)[number];

const final: ReadonlySet<RunStatus> = new Set(runStatusGroups.finished);

export function isFinal(status: RunStatus): status is FinalRunStatus {
  return final.has(status);
}

/** Why a run has its status, if the status alone does not explain it. */
export const runStatusReasons = {
  /** The handler snoozed the run; a user rescheduled it; its job is paused. */
  scheduled: ["snoozed", "rescheduled", "paused"],
  /** The run waits for another run of its job, for capacity under a limit, for its predecessor with the ordering key, or for a step. */
  blocked: ["overlap", "limit", "ordering_key", "upstream"],
  /** The worker was lost or drained, or never started the run. */
  queued: ["worker_lost", "drained", "not_started"],
  /** The run waits for a callback, without a worker. */
  running: ["callback"],
  retrying: ["handler_error", "timeout"],
  succeeded: [],
  failed: ["handler_error", "timeout", "worker_lost", "expired"],
  cancelled: [
    "cancelled_by_user",
    "cancelled_by_job",
    "cancelled_by_overlap",
    "cancelled_by_dedupe",
    "cancelled_by_workflow",
  ],
  skipped: ["overlap", "calendar", "maintenance", "missed", "paused", "upstream_failed"],
} as const satisfies Record<RunStatus, readonly string[]>;

export type RunStatusReason = (typeof runStatusReasons)[RunStatus][number];

/** Status names of other systems. */
const legacySpellings: Readonly<Record<string, RunStatus>> = {
  completed: "succeeded",
  success: "succeeded",
  failure: "failed",
  canceled: "cancelled",
};

const byName = new Map<string, readonly RunStatus[]>([
  ...runStatuses.map((status) => [status, [status]] as const),
  ...Object.entries(runStatusGroups),
  ...Object.entries(legacySpellings).map(([name, status]) => [name, [status]] as const),
]);

/** Every name that a filter of runs takes, in lower case. */
export const runStatusNames: readonly string[] = [...byName.keys()];

/** Reads a filter of runs: statuses, groups and legacy spellings, in any case, separated by commas. */
export function parseStatusFilter(text: string): RunStatus[] {
  return parseNames(text, byName, runStatuses);
}

/** Parses names separated by commas: each value once, in the order of `all`. */
export function parseNames<Status extends string>(
  text: string,
  names: ReadonlyMap<string, readonly Status[]>,
  all: readonly Status[],
): Status[] {
  const found = new Set<Status>();
  for (const part of text.split(",")) {
    const statuses = names.get(part.trim().toLowerCase());
    if (statuses === undefined) {
      const shown = JSON.stringify(part.length <= 40 ? part : `${part.slice(0, 40)}…`);
      throw new CarillonError(
        "status_unknown",
        `${shown} is not a status; write one of ${[...names.keys()].join(", ")}.`,
      );
    }
    for (const status of statuses) found.add(status);
  }
  return all.filter((status) => found.has(status));
}

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
