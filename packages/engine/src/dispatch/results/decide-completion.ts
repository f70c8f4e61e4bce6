import { type Completion, deadlineError, type Instant, named, nextAttempt, retryOf, timeoutOf } from "@carillon/core";
import type { AttemptRecord, AwaitingRun, ClaimedRun, DeferredRun, FinishedRun, RetriedRun } from "@carillon/store";

export type Decision =
  | { readonly kind: "finish"; readonly run: FinishedRun }
  | { readonly kind: "retry"; readonly run: RetriedRun }
  | { readonly kind: "defer"; readonly run: DeferredRun }
  | { readonly kind: "wait"; readonly run: AwaitingRun };

export interface Ended {
  readonly run: ClaimedRun;
  readonly completion: Completion;
  readonly now: Instant;
  /** From 0 to 1, for the jitter of the next try. */
  readonly random: number;
  /** The rank of the run when it is due then. */
  readonly rankAt: (dueMs: Instant) => number;
}

/** Decides what the outcome that a worker reports means for its run. */
export function decideCompletion({ run, completion, now, random, rankAt }: Ended): Decision {
  const { outcome } = completion;
  if (outcome.kind === "succeeded") return decideSuccess(run, outcome.outputJson, now - completion.startedAgoMs);
  const { id, fence, session } = run;
  const startedAt = now - completion.startedAgoMs;
  const ended = { id, fence, session, reason: null, output: "null", error: null, startedAt };
  const expired = { ...ended, status: "failed", reason: "expired" } as const;
  if (outcome.kind === "snoozed") {
    const { delayMs } = outcome;
    if (isPast(run, now + delayMs)) return { kind: "finish", run: { ...expired, error: deadlineError, spent: 0 } };
    const rank = rankAt(now + delayMs);
    return { kind: "defer", run: { id, fence, session, delayMs, rank, reason: "snoozed" } };
  }
  if (outcome.kind === "waiting") {
    // The attempt goes on: its timeout and the deadline of its run hold as if a worker executed it.
    const timeoutAt = startedAt + (timeoutOf(run.policy) ?? Infinity);
    const until = Math.max(now, Math.min(now + outcome.waitMs, timeoutAt, run.deadline ?? Infinity));
    return { kind: "wait", run: { id, fence, session, until, startedAt } };
  }
  if (outcome.kind === "cancelled") {
    const { error } = outcome;
    if (isPast(run, now)) return { kind: "finish", run: { ...expired, error: deadlineError } };
    return { kind: "finish", run: { ...ended, status: "cancelled", reason: "cancelled_by_user", error } };
  }
  const { reason, retryAfterMs } = outcome;
  const error = named(outcome.error);
  const attempt = run.spent + 1;
  const next = nextAttempt(retryOf(run.policy), {
    attempt,
    error,
    random,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  if (next.kind === "dead") return { kind: "finish", run: { ...ended, status: "failed", reason, error } };
  // A try that could only begin after the deadline is not made.
  if (isPast(run, now + next.delayMs)) return { kind: "finish", run: { ...expired, error } };
  const record: AttemptRecord = {
    attempt,
    fence,
    sessionId: session,
    startedAt,
    endedAt: now,
    outcome: reason === "timeout" ? "timeout" : "failed",
    error,
  };
  const rank = rankAt(now + next.delayMs);
  return { kind: "retry", run: { id, fence, session, delayMs: next.delayMs, rank, record } };
}

/** Written out: nearly every run ends so, and an object built by spreading costs ten times as much. */
export function decideSuccess({ id, fence, session }: ClaimedRun, output: string, startedAt: Instant): Decision {
  return {
    kind: "finish",
    run: { id, fence, session, status: "succeeded", reason: null, output, error: null, startedAt },
  };
}

function isPast({ deadline }: ClaimedRun, at: Instant): boolean {
  return deadline !== null && at >= deadline;
}
