import { type LiveRunStatus, type RunStatus, isFinal, parseNames, runStatusGroups } from "../run/status.js";

interface Rule {
  readonly from: readonly JobState[];
  readonly to: JobState;
  /** One line for the diagram and the reference. */
  readonly when: string;
}

/** active: fires; paused: does not fire for now; completed: has no fires left; cancelled: ended by a caller, permanently. */
export const jobStates = ["active", "paused", "completed", "cancelled"] as const;

export type JobState = (typeof jobStates)[number];

/** Every transition of a job's state, by event. SQL statements take `from` and `to` from here. */
export const jobTransitions = {
  pause: { from: ["active"], to: "paused", when: "a caller pauses the job, perhaps until a given time" },
  resume: { from: ["paused"], to: "active", when: "a caller resumes the job, or the pause expires" },
  complete: { from: ["active", "paused"], to: "completed", when: "no fires are left" },
  reactivate: { from: ["completed"], to: "active", when: "a change of the schedule adds fires" },
  cancel: { from: ["active", "paused", "completed"], to: "cancelled", when: "a caller cancels the job" },
} as const satisfies Record<string, Rule>;

export type JobEvent = keyof typeof jobTransitions;

export type JobTransition =
  | { readonly ok: true; readonly state: JobState }
  /** final: the job is cancelled and never changes; impossible: the event does not apply to the state. */
  | { readonly ok: false; readonly refusal: "final" | "impossible" };

/** The only function that changes a job's state. */
export function transitionJob(state: JobState, event: JobEvent): JobTransition {
  const rule: Rule = jobTransitions[event];
  if (rule.from.includes(state)) return { ok: true, state: rule.to };
  return { ok: false, refusal: state === "cancelled" ? "final" : "impossible" };
}

/** The status of a job in lists: the one of its live run, else one derived from the job itself. */
export const jobStatuses = [...runStatusGroups.live, "paused", "completed", "failed", "cancelled", "skipped"] as const;

export type JobStatus = (typeof jobStatuses)[number];

export interface JobInList {
  readonly state: JobState;
  /** The job fires once: the outcome of its run is the outcome of the job. */
  readonly oneOff: boolean;
  /** The status of the live run, else of the run that finished last; null before the first run. */
  readonly run: RunStatus | null;
}

export function statusOfJob({ state, oneOff, run }: JobInList): JobStatus {
  if (run !== null && !isFinal(run)) return run;
  if (state === "cancelled" || state === "paused") return state;
  if (oneOff && run !== null) return run === "succeeded" ? "completed" : run;
  return state === "active" ? "scheduled" : "completed";
}

/** Status names of other systems. */
const legacySpellings: Readonly<Record<string, JobStatus>> = {
  active: "scheduled",
  succeeded: "completed",
  success: "completed",
  failure: "failed",
  canceled: "cancelled",
};

const pending: readonly LiveRunStatus[] = runStatusGroups.pending;
const live: readonly LiveRunStatus[] = runStatusGroups.live;

const byName = new Map<string, readonly JobStatus[]>([
  ...jobStatuses.map((status) => [status, [status]] as const),
  ["pending", pending],
  ["live", live],
  ["finished", ["completed", "failed", "cancelled", "skipped"]],
  ...Object.entries(legacySpellings).map(([name, status]) => [name, [status]] as const),
]);

/** Every name that a filter of jobs takes, in lower case. */
export const jobStatusNames: readonly string[] = [...byName.keys()];

/** Reads a filter of jobs: statuses, groups and legacy spellings, in any case, separated by commas. */
export function parseJobStatusFilter(text: string): JobStatus[] {
  return parseNames(text, byName, jobStatuses);
}
