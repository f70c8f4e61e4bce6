import { type Assignment, retryOf } from "@carillon/core";
import type { VirtualRun } from "@carillon/engine";

/** A virtual run as a worker would be given it, after so many attempts under so many claims. */
export function assignmentOf(run: VirtualRun, { spent, fence }: { spent: number; fence: number }): Assignment {
  return {
    runId: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    payload: JSON.parse(JSON.stringify(run.payload ?? null)) as unknown,
    attempt: spent + 1,
    maxAttempts: retryOf(run.policy).maxAttempts,
    atMostOnce: run.policy.guarantee === "at_most_once",
    fence: fence + 1,
    timeoutMs: run.policy.timeoutMs ?? null,
    scheduledFor: run.nominal,
    runAt: run.runAt,
  };
}
