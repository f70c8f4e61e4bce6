import { type Completion, type Instant, nextAttempt, rankOf, retryPolicy } from "@carillon/core";
import type { AttemptRecord } from "../model/run-view.js";
import type { ClaimedRun, FinishedRun, RetriedRun } from "../store/entities/claims.js";

export type Decision =
  | { readonly kind: "finish"; readonly run: FinishedRun }
  | { readonly kind: "retry"; readonly run: RetriedRun };

export interface Ended {
  readonly sessionId: string;
  readonly run: ClaimedRun;
  readonly completion: Completion;
  readonly now: Instant;
  /** From 0 to 1, for the jitter of the next try. */
  readonly random: number;
}

/** What a worker's word makes of its run. */
export function decideCompletion({ sessionId, run, completion, now, random }: Ended): Decision {
  const { id, fence } = run;
  const startedAt = now - completion.startedAgoMs;
  const { outcome } = completion;
  const ended = { id, fence, reason: null, output: null, error: null, startedAt };
  if (outcome.kind === "succeeded")
    return { kind: "finish", run: { ...ended, status: "succeeded", output: outcome.output } };
  if (outcome.kind === "cancelled") {
    const { error } = outcome;
    return { kind: "finish", run: { ...ended, status: "cancelled", reason: "cancelled_by_user", error } };
  }
  const { error, reason, retryAfterMs } = outcome;
  const attempt = run.spent + 1;
  const next = nextAttempt(retryPolicy(run.policy.retry ?? {}), {
    attempt,
    error,
    random,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  if (next.kind === "dead") return { kind: "finish", run: { ...ended, status: "failed", reason, error } };
  const record: AttemptRecord = {
    attempt,
    fence,
    sessionId,
    startedAt,
    endedAt: now,
    outcome: reason === "timeout" ? "timeout" : "failed",
    error,
  };
  const rank = rankOf({ dueMs: now + next.delayMs, priority: run.priority });
  return { kind: "retry", run: { id, fence, delayMs: next.delayMs, rank, record } };
}
