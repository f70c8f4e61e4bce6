import { type Assignment, defaultRetryPolicy } from "@carillon/core";
import type { ClaimedRun } from "../store/entities/claimed-run.js";
import type { Lane } from "../store/entities/lanes.js";

/** An assignment whose payload is still the stored JSON. */
export type Assigned = Omit<Assignment, "payload"> & { readonly payloadJson: string };

/** A claimed run as its worker sees it. */
export function assignmentOf(run: ClaimedRun, lane: Lane | null): Assigned {
  if (lane === null) throw new Error(`a run of the lane ${run.lane} was claimed, which is not known`);
  const atMostOnce = run.policy.guarantee === "at_most_once";
  return {
    runId: run.id,
    jobId: run.jobId,
    task: lane.task,
    queue: lane.queue,
    payloadJson: run.payload,
    attempt: run.spent + 1,
    maxAttempts: atMostOnce ? 1 : (run.policy.retry?.maxAttempts ?? defaultRetryPolicy.maxAttempts),
    atMostOnce,
    fence: run.fence,
    timeoutMs: run.policy.timeoutMs ?? null,
    scheduledFor: run.nominal,
    runAt: run.runAt,
    traceparent: run.policy.traceparent,
  };
}
