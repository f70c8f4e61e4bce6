import type { Instant, RunError } from "@carillon/core";
import type { AttemptRecord } from "@carillon/store";
import type { RunView } from "./run-reader.js";

/** A claim of a run: one that ended is recorded with the run, the last one is the run itself. */
export interface Attempt {
  /** From 1. Claims that ended without a result share the number of the next one. */
  readonly attempt: number;
  /** Identifies the claim: no two of a run have the same. */
  readonly fence: number;
  /** null: the run waits, or waited, for a callback. */
  readonly workerId: string | null;
  readonly startedAt: Instant;
  /** null: it is running. */
  readonly endedAt: Instant | null;
  readonly outcome: AttemptRecord["outcome"] | "running" | "succeeded" | "cancelled";
  readonly error: RunError | null;
}

/** The attempts of a run, oldest first, the running or last one included; at most the last hundred and one. */
export function attemptsOf(run: RunView): readonly Attempt[] {
  const earlier = run.attempts.map(({ sessionId: workerId, error = null, ...record }): Attempt => ({
    ...record,
    workerId,
    error,
  }));
  const last = lastAttempt(run);
  return last === null ? earlier : [...earlier, last];
}

/** null: the run waits, or it ended while it waited, or before its handler was started. */
function lastAttempt(run: RunView): Attempt | null {
  const { attempt, fence, workerId, startedAt, finishedAt: endedAt, error } = run;
  const outcome = run.isClaimed ? outcomeOf(run) : null;
  if (startedAt === null || outcome === null) return null;
  // The loss of a worker spends no attempt.
  const number = outcome === "worker_lost" ? attempt + 1 : attempt;
  return { attempt: number, fence, workerId, startedAt, endedAt, outcome, error };
}

function outcomeOf(run: RunView): Attempt["outcome"] | null {
  const { status, statusReason: reason } = run;
  if (status === "running" || status === "succeeded") return status;
  if (status === "cancelled") return isAttemptSpent(run) ? status : null;
  if (status !== "failed") return null;
  if (reason === "expired") return isAttemptSpent(run) ? "failed" : null;
  return reason === "timeout" || reason === "worker_lost" ? reason : "failed";
}

/** A run that was cancelled, or whose deadline passed, after its claim and before its handler was started spends no attempt. */
function isAttemptSpent({ attempt, attempts }: RunView): boolean {
  return attempt > (attempts.findLast(isCounted)?.attempt ?? 0);
}

const uncounted: ReadonlySet<string> = new Set<AttemptRecord["outcome"]>(["worker_lost", "not_started", "drained"]);

/** Whether the attempt counts against `max_attempts`. */
function isCounted({ outcome }: Pick<AttemptRecord, "outcome">): boolean {
  return !uncounted.has(outcome);
}

/** When the handler was started first; null: never. */
export function firstStartOf({ attempts, startedAt }: Pick<RunView, "attempts" | "startedAt">): Instant | null {
  return attempts.find(({ outcome }) => outcome !== "not_started")?.startedAt ?? startedAt;
}

/** The claim before the present one, if it ended with its worker. */
export function lostClaimOf({ attempts }: Pick<RunView, "attempts">): AttemptRecord | null {
  const last = attempts.at(-1);
  return last !== undefined && !isCounted(last) ? last : null;
}
