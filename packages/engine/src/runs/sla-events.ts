import { type Instant, latenessOf, type Sla, slaTermsOf } from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import type { ClaimedRun, EndedLate } from "@carillon/store";

interface Place {
  readonly task: string;
  readonly queue: string;
}

type Term = "start" | "finish";

interface PromisedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly sla: Sla | undefined;
  readonly trigger: string;
  readonly nominal: Instant;
}

/** A worker has the run. Its first claim counts: a later try starts late because of what came before. */
export function tellLateStart(run: ClaimedRun, place: Place, at: Instant, onEvent: OnEngineEvent): void {
  if (run.fence === 1) tell("start", { ...run, sla: run.policy.sla }, place, { at, onEvent });
}

/** The run has succeeded or failed. */
export function tellLateEnd(run: ClaimedRun, place: Place, at: Instant, onEvent: OnEngineEvent): void {
  tell("finish", { ...run, sla: run.policy.sla }, place, { at, onEvent });
}

/** Of runs that failed elsewhere than on a worker. One that no worker ever had did not start in time either. */
export function tellLateEnds(runs: readonly EndedLate[], onEvent: OnEngineEvent): void {
  for (const run of runs) {
    if (run.sla === null) continue;
    const promised = { ...run, sla: run.sla };
    if (run.fence === 0) tell("start", promised, run, { at: run.endedAt, onEvent });
    tell("finish", promised, run, { at: run.endedAt, onEvent });
  }
}

function tell(
  term: Term,
  run: PromisedRun,
  place: Place,
  { at, onEvent }: { at: Instant; onEvent: OnEngineEvent },
): void {
  const terms = slaTermsOf(run);
  const by = term === "start" ? terms?.startBy : terms?.finishBy;
  const lateMs = latenessOf(by, at);
  if (lateMs === null || by === null || by === undefined) return;
  const { id: runId, jobId, namespaceId } = run;
  const { task, queue } = place;
  onEvent({ type: "run.sla_breached", namespaceId, runId, jobId, task, queue, term, by, lateMs });
}
