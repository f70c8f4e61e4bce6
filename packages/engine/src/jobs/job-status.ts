import { type JobStatus, type RunStatus, runStatuses, statusOfJob } from "@carillon/core";
import type { JobView } from "./job-view.js";

/** The one word that lists show for a job. */
export function jobStatus(job: JobView): JobStatus {
  return statusOfJob({ state: job.state, oneOff: job.schedule.kind === "at", run: job.lastRun?.status ?? null });
}

/** The run statuses in which a job that is its run alone shows one of these statuses. */
export function runStatusesOf(wanted: readonly JobStatus[]): RunStatus[] {
  return runStatuses.filter((run) => {
    const state = run === "cancelled" ? "cancelled" : "active";
    return wanted.includes(statusOfJob({ state, oneOff: true, run }));
  });
}
