import { type Instant, type Sla, isFirstClaim, latenessOf, runEndEvents, slaTermsOf } from "@carillon/core";
import type { ClaimedRun, EndedLate, EndedRun } from "@carillon/store";
import type { OnEngineEvent } from "../events.js";

interface TaskAndQueue {
  readonly task: string;
  readonly queue: string;
}

type SlaTerm = "start" | "finish";

interface RunWithSla {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly sla: Sla | undefined;
  readonly trigger: string;
  readonly nominal: Instant;
}

/** A worker claimed the run. Only its first claim counts: later attempts start late because of the earlier ones. */
export function emitLateStart(run: ClaimedRun, place: TaskAndQueue, at: Instant, emit: OnEngineEvent): void {
  if (isFirstClaim(run.fence)) emitIfLate("start", { ...run, sla: run.policy.sla }, place, { at, emit });
}

/** A worker completed the run: it has succeeded or failed. */
export function emitLateEnd(run: ClaimedRun, place: TaskAndQueue, at: Instant, emit: OnEngineEvent): void {
  emitIfLate("finish", { ...run, sla: run.policy.sla }, place, { at, emit });
}

/** Runs failed without a worker. One that no worker ever claimed did not start in time either. */
export function emitLateEnds(runs: readonly EndedLate[], emit: OnEngineEvent): void {
  for (const run of runs) {
    if (run.sla === null) continue;
    const withSla = { ...run, sla: run.sla };
    if (run.fence === 0) emitIfLate("start", withSla, run, { at: run.endedAt, emit });
    emitIfLate("finish", withSla, run, { at: run.endedAt, emit });
  }
}

function emitIfLate(
  sla: SlaTerm,
  run: RunWithSla,
  place: TaskAndQueue,
  { at, emit }: { at: Instant; emit: OnEngineEvent },
): void {
  const terms = slaTermsOf(run);
  const dueAt = sla === "start" ? terms?.startBy : terms?.finishBy;
  const lateMs = latenessOf(dueAt, at);
  if (lateMs === null || dueAt === null || dueAt === undefined) return;
  const { id: runId, jobId, namespaceId } = run;
  const { task, queue } = place;
  emit({ type: "run.sla_breached", namespaceId, runId, jobId, task, queue, sla, dueAt, lateMs });
}

/** Runs ended without a worker. Called after the commit. */
export function announceEnded(
  runs: readonly Omit<EndedRun, "freedJobId">[],
  status: "failed" | "cancelled",
  emit: OnEngineEvent,
): void {
  for (const { id: runId, jobId, namespaceId, task, queue } of runs) {
    emit({ type: runEndEvents[status], namespaceId, runId, jobId, task, queue, durationMs: 0 });
  }
}
