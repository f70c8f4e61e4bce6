import { type Assignment, retryPolicy } from "@carillon/core";
import type { ClaimedRun } from "../store/entities/claims.js";

/** A claimed run as its worker sees it. */
export function assignmentOf(run: ClaimedRun): Assignment {
  return {
    runId: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    payload: run.payload,
    attempt: run.spent + 1,
    maxAttempts: retryPolicy(run.policy.retry ?? {}).maxAttempts,
    fence: run.fence,
    timeoutMs: run.policy.timeoutMs ?? null,
    scheduledFor: run.nominal,
    runAt: run.runAt,
  };
}
