import { type DurationMs, maxRetryWaitMs, type Outcome, parseDuration, type RunError } from "@carillon/core";

/** Thrown by a handler: retrying is useless. */
export class NonRetryableError extends Error {
  override readonly name: string = "NonRetryableError";
}

/** Thrown by a handler: retry, but not before this time has passed. */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly afterMs: DurationMs;

  /** A duration such as "30s", or milliseconds. */
  constructor(after: string | DurationMs, message?: string) {
    const afterMs = toDurationMs(after);
    super(message ?? `again after ${afterMs} ms`);
    this.afterMs = afterMs;
  }
}

/** Thrown by a handler: call it again after this time; no attempt is spent. */
export class SnoozeError extends Error {
  override readonly name = "SnoozeError";
  readonly afterMs: DurationMs;

  /** A duration such as "30s", or milliseconds. */
  constructor(after: string | DurationMs, message?: string) {
    const afterMs = toDurationMs(after);
    super(message ?? `not yet: again in ${afterMs} ms`);
    this.afterMs = afterMs;
  }
}

/** Thrown by a handler: another system ends this run through its callback, and until then it needs no worker. Created by a callback's `wait`. */
export class AwaitCallbackError extends Error {
  override readonly name = "AwaitCallbackError";
  readonly waitMs: DurationMs;

  constructor(waitMs: DurationMs) {
    super(`waits for a callback, up to ${waitMs} ms`);
    this.waitMs = waitMs;
  }
}

/**
 * Why a run must stop. `timeout`: its time is over; `drain`: the worker stops; `session_lost`, `claim_lost`: another worker may have
 * the run; `disconnected`: that may soon be so, because the server does not answer; anything else is the reason of a stop request,
 * such as `cancelled_by_job`.
 */
export type StopReason = "timeout" | "drain" | "session_lost" | "claim_lost" | "disconnected" | (string & {});

/** The reason of a handler's signal. */
export class RunStoppedError extends Error {
  override readonly name = "RunStoppedError";
  readonly reason: StopReason;

  constructor(reason: StopReason, message = `the run was asked to stop: ${reason}`) {
    super(message);
    this.reason = reason;
  }
}

/** The outcome of a handler after a stop request: one that finished its work has succeeded, one that threw was cancelled. */
export function stoppedOutcome(outcome: Outcome): Outcome {
  return outcome.kind === "failed" ? { kind: "cancelled", error: outcome.error } : outcome;
}

/** The outcome of an at-most-once run whose worker stopped before the handler ended: how far it got is unknown. */
export function workerStoppedOutcome(): Outcome {
  const message = "its worker stopped before the handler ended, and the run may not be started again";
  return { kind: "failed", reason: "handler_error", error: { type: "WorkerStopped", message, retryable: false } };
}

const maxMessageLength = 4_096;
const maxStackLength = 8_192;

/** Converts a thrown value into an outcome. Never throws. */
export function errorOutcome(thrown: unknown): Outcome {
  try {
    return readThrown(thrown);
  } catch (unreadable) {
    return readThrown(new Error("the handler threw something that cannot be read", { cause: unreadable }));
  }
}

function readThrown(thrown: unknown): Outcome {
  if (isKind(thrown, SnoozeError)) return { kind: "snoozed", delayMs: clampDelay(thrown.afterMs) };
  if (thrown instanceof AwaitCallbackError) return { kind: "waiting", waitMs: clampDelay(thrown.waitMs) };
  const failed = { kind: "failed", reason: "handler_error", error: toRunError(thrown) } as const;
  return isKind(thrown, RetryAfterError) ? { ...failed, retryAfterMs: clampDelay(thrown.afterMs) } : failed;
}

/** Some libraries throw errors whose members have unexpected types. */
function toRunError(thrown: unknown): RunError {
  const retryable = !isKind(thrown, NonRetryableError);
  if (!(thrown instanceof Error))
    return { type: "Error", message: toText(thrown).slice(0, maxMessageLength), retryable };
  const { name, message, stack }: { name: unknown; message: unknown; stack?: unknown } = thrown;
  return {
    type: typeof name === "string" ? name : "Error",
    message: toText(message).slice(0, maxMessageLength),
    ...(typeof stack === "string" && { stack: stack.slice(0, maxStackLength) }),
    retryable,
  };
}

/** JSON where that is possible; a cycle or a bigint has none. */
function toText(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const text: string | undefined = JSON.stringify(value);
    return text ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Compares the class and the name: tasks and the runtime may use two copies of this package. */
function isKind<Kind extends Error>(thrown: unknown, kind: new (...given: never[]) => Kind): thrown is Kind {
  return thrown instanceof kind || (thrown instanceof Error && thrown.name === kind.name);
}

function toDurationMs(after: string | DurationMs): DurationMs {
  return typeof after === "string" ? parseDuration(after) : after;
}

/** NaN and infinite delays count as 0. */
function clampDelay(afterMs: DurationMs): DurationMs {
  return Number.isFinite(afterMs) ? Math.min(Math.max(0, afterMs), maxRetryWaitMs) : 0;
}
