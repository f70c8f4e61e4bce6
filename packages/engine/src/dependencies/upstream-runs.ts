import type { UpstreamReads, UpstreamRun } from "@carillon/store";
import { repeatedIdOf, upstreamIdsOf } from "../runs/run-reader.js";

/** Retries of retries and replays that are followed back to the first run. */
const maxRepeats = 20;
/** All outputs together; later outputs are left out. */
const maxOutputBytes = 1_048_576;

/** The runs whose ends started a run, or started the run that it repeats. */
export async function upstreamOf(
  reads: UpstreamReads,
  namespaceId: number,
  trigger: string,
): Promise<readonly UpstreamRun[]> {
  let first: string | null = trigger;
  for (let step = 0; step < maxRepeats && first !== null; step++) {
    const repeated = repeatedIdOf(first);
    if (repeated === null) return limitOutputs(await reads.runs(namespaceId, upstreamIdsOf(first)));
    first = await reads.trigger(namespaceId, repeated);
  }
  return [];
}

/** The same in the form that workers receive. */
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

function limitOutputs(runs: readonly UpstreamRun[]): readonly UpstreamRun[] {
  let bytes = 0;
  return runs.map((run) => {
    bytes += Buffer.byteLength(JSON.stringify(run.output ?? null));
    return bytes <= maxOutputBytes ? run : { ...run, output: null, isOutputCut: true };
  });
}
