import type { JobView } from "../model/job-view.js";
import type { RunStatus } from "../model/run-view.js";

const live: ReadonlySet<string> = new Set(["scheduled", "queued", "blocked", "running", "retrying"]);

export type JobStatus = "scheduled" | "queued" | "blocked" | "running" | "retrying" | "paused" | "completed" | "failed" | "cancelled";

/** The one word that lists show for a job: that of its live run, else what its schedule or its outcome says. */
export function jobStatus(job: JobView): JobStatus {
  const run = job.lastRun;
  if (run !== null && live.has(run.status)) return run.status as JobStatus;
  if (job.state === "active") return "scheduled";
  if (job.state === "completed" && job.schedule.kind === "at" && run?.status === "failed") return "failed";
  return job.state;
}

/** The run statuses in which a one-off job would show one of these job statuses. */
export function runStatusesOf(statuses: readonly string[]): RunStatus[] {
  const asRun: Record<string, RunStatus> = { completed: "succeeded", failed: "failed", cancelled: "cancelled" };
  return statuses.flatMap((status) => (live.has(status) ? [status as RunStatus] : (asRun[status] ?? [])));
}
