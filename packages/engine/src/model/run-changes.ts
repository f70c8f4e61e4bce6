import type { Instant } from "@carillon/core";
import type { JobRef } from "./api.js";
import type { RunView } from "./run-view.js";

/** How the last finished runs of a job went. */
export interface JobStats {
  readonly finished: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  /** Those that took more than one try. */
  readonly retried: number;
  /** When the first and the last of them ended. */
  readonly firstAt: Instant | null;
  readonly lastAt: Instant | null;
  readonly durationP50Ms: number | null;
  readonly durationP95Ms: number | null;
  readonly lagP95Ms: number | null;
}

/** Changes of single runs. All throw CarillonError not_found. */
export interface RunChanges {
  /** One that waits ends; one that runs is asked to stop; one that has ended is answered as it is. */
  cancelRun(namespace: string, id: string): Promise<RunView>;
  /** Throws run_not_waiting when it runs, has ended, or waits for something else than its time or a worker. */
  rescheduleRun(namespace: string, id: string, runAt: Instant): Promise<RunView>;
  jobStats(namespace: string, ref: JobRef): Promise<JobStats>;
}
