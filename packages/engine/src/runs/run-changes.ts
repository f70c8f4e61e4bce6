import type { Instant } from "@carillon/core";
import type { RunView } from "./run-view.js";
import type { JobStats } from "@carillon/store";
import type { JobRef } from "../requests.js";

/** Changes of single runs. All throw CarillonError not_found. */
export interface RunChanges {
  /** One that waits ends; one that runs is asked to stop; one that has ended is answered as it is. */
  cancelRun(namespace: string, id: string): Promise<RunView>;
  /** Throws run_not_waiting when it runs, has ended, or waits for something else than its time or a worker. */
  rescheduleRun(namespace: string, id: string, runAt: Instant): Promise<RunView>;
  jobStats(namespace: string, ref: JobRef): Promise<JobStats>;
}
