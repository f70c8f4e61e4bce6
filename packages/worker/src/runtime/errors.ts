import { type DurationMs, maxRetryWaitMs, type Outcome, parseDuration, type RunError } from "@carillon/core";

/** Thrown by a handler: trying again is useless. */
export class NonRetryableError extends Error {
  override readonly name: string = "NonRetryableError";
}

/** Thrown by a handler: try again, but not before this time has passed. */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly afterMs: DurationMs;

  /** A text such as "30s", or milliseconds. */
  constructor(after: string | DurationMs, message?: string) {
    const afterMs = durationOf(after);
    super(message ?? `again after ${afterMs} ms`);
    this.afterMs = afterMs;
  }
}

/** Thrown by a handler: call me again after this time; no attempt is spent. */
export class SnoozeError extends Error {
  override readonly name = "SnoozeError";
  readonly afterMs: DurationMs;

  /** A text such as "30s", or milliseconds. */
  constructor(after: string | DurationMs, message?: string) {
    const afterMs = durationOf(after);
    super(message ?? `not yet: again in ${afterMs} ms`);
    this.afterMs = afterMs;
  }
}

/** Thrown by a handler: somebody else ends this run by its callback; until then it needs no worker. Made by a callback's `wait`. */
export class AwaitCallbackError extends Error {
  override readonly name = "AwaitCallbackError";
  readonly waitMs: DurationMs;

  constructor(waitMs: DurationMs) {
    super(`waits for a callback, up to ${waitMs} ms`);
    this.waitMs = waitMs;
  }
}

/**
 * Why a run is to stop: `timeout`, its time is over; `drain`, the worker stops; `session_lost` and `claim_lost`, the run is
 * somebody else's by now; `unheard`, it may soon be; else whoever asked for it, as in `cancelled_by_job`.
 */
export type StopReason = "timeout" | "drain" | "session_lost" | "claim_lost" | "unheard" | (string & {});

/** The reason of a handler's signal. */
export class RunStoppedError extends Error {
  override readonly name = "RunStoppedError";
  readonly reason: StopReason;

  constructor(reason: StopReason, message = `the run was asked to stop: ${reason}`) {
    super(message);
    this.reason = reason;
  }
}

/** A handler that was asked to stop and did its work all the same has done it; one that threw was cancelled. */
export function stoppedOutcome(ended: Outcome): Outcome {
  return ended.kind === "failed" ? { kind: "cancelled", error: ended.error } : ended;
}

/** A run that may be begun only once and whose worker stopped before it ended: nobody knows how far it came. */
export function stoppedWithWorker(): Outcome {
  const message = "its worker stopped before the handler ended, and the run may not be begun again";
  return { kind: "failed", reason: "handler_error", error: { type: "WorkerStopped", message, retryable: false } };
}

const longestMessage = 4_096;
const longestStack = 8_192;

/** What a handler threw, in the form that is stored. Never throws, whatever it was. */
export function outcomeOfError(thrown: unknown): Outcome {
  try {
    return readThrown(thrown);
  } catch (unreadable) {
    return readThrown(new Error("the handler threw something that cannot be read", { cause: unreadable }));
  }
}

function readThrown(thrown: unknown): Outcome {
  if (isKind(thrown, SnoozeError)) return { kind: "snoozed", delayMs: waitOf(thrown.afterMs) };
  if (thrown instanceof AwaitCallbackError) return { kind: "waiting", waitMs: waitOf(thrown.waitMs) };
  const failed = { kind: "failed", reason: "handler_error", error: failureOf(thrown) } as const;
  return isKind(thrown, RetryAfterError) ? { ...failed, retryAfterMs: waitOf(thrown.afterMs) } : failed;
}

/** Errors of all kinds of libraries: their members may be of any type. */
function failureOf(thrown: unknown): RunError {
  const retryable = !isKind(thrown, NonRetryableError);
  if (!(thrown instanceof Error)) return { type: "Error", message: textOf(thrown).slice(0, longestMessage), retryable };
  const { name, message, stack }: { name: unknown; message: unknown; stack?: unknown } = thrown;
  return {
    type: typeof name === "string" ? name : "Error",
    message: textOf(message).slice(0, longestMessage),
    ...(typeof stack === "string" && { stack: stack.slice(0, longestStack) }),
    retryable,
  };
}

/** JSON, if it can be written so: a cycle and a bigint cannot. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const text: string | undefined = JSON.stringify(value);
    return text ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** By its class or by its name: tasks and the runtime may come from two copies of this package. */
function isKind<Kind extends Error>(thrown: unknown, kind: new (...given: never[]) => Kind): thrown is Kind {
  return thrown instanceof kind || (thrown instanceof Error && thrown.name === kind.name);
}

function durationOf(after: string | DurationMs): DurationMs {
  return typeof after === "string" ? parseDuration(after) : after;
}

/** A time that makes no sense is none at all. */
function waitOf(afterMs: DurationMs): DurationMs {
  return Number.isFinite(afterMs) ? Math.min(Math.max(0, afterMs), maxRetryWaitMs) : 0;
}
