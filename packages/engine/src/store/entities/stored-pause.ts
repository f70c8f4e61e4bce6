import type { Instant } from "@carillon/core";
import type { JobPause } from "../../model/job-view.js";

/** As `job.pause` holds it; whoever parks a job that cannot be fired says only who, why and when. */
export type StoredPause = Pick<JobPause, "reason" | "actor" | "at"> & Partial<JobPause>;

export interface PausedJob {
  readonly pause: StoredPause | null;
  readonly fired_through: Instant | null;
  readonly defined_at: Instant | null;
  readonly created_at: Instant;
}

export function readPause({ pause, fired_through, defined_at, created_at }: PausedJob): JobPause | null {
  if (pause === null) return null;
  const since = Math.max(fired_through ?? 0, defined_at ?? created_at);
  return { until: null, missed: "none", after: since, ...pause };
}
