import { isFinal, type LiveRunStatus, type RunStatus, runStatusGroups } from "../run/status.js";
import { parseNames } from "../run/status-filter.js";
import type { JobState } from "./state.js";

/** The status of a job in lists: that of its live run, else what is left to say of the job itself. */
export const jobStatuses = [...runStatusGroups.live, "paused", "completed", "failed", "cancelled", "skipped"] as const;

export type JobStatus = (typeof jobStatuses)[number];

export interface JobInList {
  readonly state: JobState;
  /** One instant only: what became of its run is what became of the job. */
  readonly oneOff: boolean;
  /** The live run, else the one that finished last; null before the first. */
  readonly run: RunStatus | null;
}

export function statusOfJob({ state, oneOff, run }: JobInList): JobStatus {
  if (run !== null && !isFinal(run)) return run;
  if (state === "cancelled" || state === "paused") return state;
  if (oneOff && run !== null) return run === "succeeded" ? "completed" : run;
  return state === "active" ? "scheduled" : "completed";
}

const foreign: Readonly<Record<string, JobStatus>> = {
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
  ...Object.entries(foreign).map(([name, status]) => [name, [status]] as const),
]);

/** Reads a filter of jobs: statuses, groups and foreign spellings, in any case, separated by commas. */
export function parseJobStatusFilter(text: string): JobStatus[] {
  return parseNames(text, byName, jobStatuses);
}
