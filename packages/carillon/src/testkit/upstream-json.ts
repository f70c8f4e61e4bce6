import type { Instant } from "@carillon/core";
import type { UpstreamRun } from "@carillon/worker";

/** The runs that started another, as the server says it. What is not said of one is that it succeeded. */
export function upstreamJson(runs: readonly Partial<UpstreamRun>[], now: Instant): string {
  return JSON.stringify(
    runs.map((run, index) => ({
      run_id: run.runId ?? `upstream-${index}`,
      job_id: run.jobId ?? `upstream-job-${index}`,
      job_key: run.jobKey ?? null,
      status: run.status ?? "succeeded",
      reason: run.reason ?? null,
      finished_at: run.finishedAt ?? now,
      output: run.output ?? null,
      output_cut: run.isOutputCut ?? false,
      error: run.error ?? null,
    })),
  );
}
