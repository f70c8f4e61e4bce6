import { shownId } from "@carillon/core";
import type { UpstreamRun } from "./task.js";

interface WireUpstream {
  readonly run_id: string;
  readonly job_id: string;
  readonly job_key: string | null;
  readonly status: UpstreamRun["status"];
  readonly reason: string | null;
  readonly finished_at: number;
  readonly output: unknown;
  readonly output_cut: boolean;
  readonly error: UpstreamRun["error"];
}

/** What the server says of the runs whose ends started this one. */
export function upstreamRuns(json: string): readonly UpstreamRun[] {
  return (JSON.parse(json) as readonly WireUpstream[]).map((run) => ({
    runId: shownId("run", run.run_id),
    jobId: shownId("job", run.job_id),
    jobKey: run.job_key,
    status: run.status,
    reason: run.reason,
    finishedAt: run.finished_at,
    output: run.output,
    isOutputCut: run.output_cut,
    error: run.error,
  }));
}
