import type { JobPause, Instant } from "@carillon/core";
/** The column `job.pause`; the scheduler, which pauses a job that cannot be fired, stores only the actor, the reason and the time. */
export type PauseColumn = Pick<JobPause, "reason" | "actor" | "at"> & Partial<StoredPause>;

export interface StoredPause extends JobPause {
  /** The pause contains the occurrences after this instant. */
  readonly after: Instant;
}

export function readPause({ pause, fired_through, defined_at, created_at }: PausedRow): StoredPause | null {
  if (pause === null) return null;
  const since = Math.max(fired_through ?? 0, defined_at ?? created_at);
  return { until: null, missed: "none", after: since, ...pause };
}

export interface PausedRow {
  readonly pause: PauseColumn | null;
  readonly fired_through: Instant | null;
  readonly defined_at: Instant | null;
  readonly created_at: Instant;
}
