import type { UpstreamReads, UpstreamRun } from "@carillon/store";
import { repeatedIdOf, upstreamIdsOf } from "../runs/run-view.js";

/** A retry of a retry, and so on. */
const mostRepeats = 20;
/** All outputs together; what comes later is cut. */
const mostOutputBytes = 1_048_576;

/** The runs whose ends started a run, or the one that it was repeated from. */
export async function upstreamOf(
  reads: UpstreamReads,
  namespaceId: number,
  trigger: string,
): Promise<readonly UpstreamRun[]> {
  let first: string | null = trigger;
  for (let step = 0; step < mostRepeats && first !== null; step++) {
    const repeated = repeatedIdOf(first);
    if (repeated === null) return cut(await reads.runs(namespaceId, upstreamIdsOf(first)));
    first = await reads.trigger(namespaceId, repeated);
  }
  return [];
}

/** As a handler's worker reads it. */
export function upstreamJson(runs: readonly UpstreamRun[]): string {
  return JSON.stringify(
    runs.map((run) => ({
      run_id: run.id,
      job_id: run.jobId,
      job_key: run.jobKey,
      status: run.status,
      reason: run.reason,
      finished_at: run.finishedAt,
      output: run.output,
      output_cut: run.isOutputCut,
      error: run.error === null ? null : { type: run.error.type, message: run.error.message },
    })),
  );
}

function cut(runs: readonly UpstreamRun[]): readonly UpstreamRun[] {
  let bytes = 0;
  return runs.map((run) => {
    bytes += Buffer.byteLength(JSON.stringify(run.output ?? null));
    return bytes <= mostOutputBytes ? run : { ...run, output: null, isOutputCut: true };
  });
}
