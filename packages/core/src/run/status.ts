/** Where a run is. The first five are live, the others final: a run that has one of those never changes again. */
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

/** Names for sets of statuses, as filters use them. */
export const runStatusGroups = {
  /** Will run, but does not at the moment. */
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
