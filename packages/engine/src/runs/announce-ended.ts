import type { OnEngineEvent } from "../events.js";
import type { EndedRun } from "@carillon/store";

/** Tells of runs that ended elsewhere than on a worker. After the commit. */
export function announceEnded(
  runs: readonly Omit<EndedRun, "freedJobId">[],
  status: "failed" | "cancelled",
  onEvent: OnEngineEvent,
): void {
  for (const { id: runId, jobId, namespaceId, task, queue } of runs) {
    onEvent({ type: "run.finished", namespaceId, runId, jobId, task, queue, status, durationMs: 0 });
  }
}
