import { fingerprintOf } from "../errors/fingerprint.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** A run that was assigned to a worker. Every later message about it carries the fence. */
export interface Assignment {
  readonly runId: string;
  readonly jobId: string | null;
  /** The name of its namespace; undefined from a server of an older version, and from a node that has not read a new namespace yet. */
  readonly namespace?: string | undefined;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Once started, the run must not start again. */
  readonly atMostOnce: boolean;
  /** Grows with every claim of the run and is never reused. */
  readonly fence: number;
  readonly timeoutMs: DurationMs | null;
  readonly scheduledFor: Instant;
  readonly runAt: Instant;
  /** The trace context of the request for the run. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** An error of a handler, in the form that is stored and shown. */
export interface RunError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly retryable: boolean;
  /** Identifies the error group; set by the server. */
  readonly fingerprint?: string;
}

/** The error with its fingerprint. */
export function named(error: RunError): RunError {
  return { ...error, fingerprint: fingerprintOf(error) };
}

/** Orders a worker to stop a run; `fence` is the claim under which it holds the run. */
export interface StopOrder {
  readonly runId: string;
  readonly fence: number;
  readonly reason: string;
}

export type Outcome =
  /** The result as JSON text, which is not parsed on its way to the store. */
  | { readonly kind: "succeeded"; readonly outputJson: string }
  /** The handler ended after a stop order; `error` is the one that it threw, if any. */
  | { readonly kind: "cancelled"; readonly error: RunError | null }
  /** The handler asks to be called again later; the attempt does not count. */
  | { readonly kind: "snoozed"; readonly delayMs: DurationMs }
  /** The run waits without a worker for a callback that ends it, at most this long. */
  | { readonly kind: "waiting"; readonly waitMs: DurationMs }
  | {
      readonly kind: "failed";
      readonly reason: "handler_error" | "timeout";
      readonly error: RunError;
      readonly retryAfterMs?: DurationMs;
    };

/** How a run ended on a worker. */
export interface Completion {
  readonly runId: string;
  readonly fence: number;
  /** The time from the start of the handler to this message: durations are comparable between hosts, wall clocks are not. */
  readonly startedAgoMs: DurationMs;
  readonly outcome: Outcome;
}

/** The outcome of an attempt that exceeded its timeout. */
export function timeoutOutcome(timeoutMs: DurationMs): Outcome {
  const message = `The handler did not end within its timeout of ${timeoutMs} ms.`;
  return { kind: "failed", reason: "timeout", error: { type: "TimeoutError", message, retryable: true } };
}

/** The error of a run that did not end by its deadline. */
export const deadlineError: RunError = Object.freeze(
  named({ type: "DeadlineExceeded", message: "The run did not end by its deadline.", retryable: false }),
);

/** The result that a callback reports for its run, as stored. */
export type CallbackAnswer =
  | { readonly status: "succeeded"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: RunError; readonly retryAfterMs?: DurationMs };

/** The session id of a run that waits for a callback, which no worker has. */
export const callbackSessionId = "00000000-0000-0000-0000-000000000000";

export function callbackOutcome(answer: CallbackAnswer): Outcome {
  if (answer.status === "succeeded") return { kind: "succeeded", outputJson: JSON.stringify(answer.output ?? null) };
  const { error, retryAfterMs } = answer;
  return { kind: "failed", reason: "handler_error", error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** The outcome of an attempt whose callback did not arrive. */
export function callbackTimeoutOutcome(waitedMs: DurationMs): Extract<Outcome, { kind: "failed" }> {
  const message = `No callback arrived within ${waitedMs} ms.`;
  return { kind: "failed", reason: "timeout", error: { type: "CallbackTimeout", message, retryable: true } };
}

/** The low part of a fence counts the claims of its run; the rest counts the histories of the database, which a failover changes. */
const claimsPerHistory = 2 ** 32;

/** Whether no earlier claim of the run is known to the database. */
export const isFirstClaim = (fence: number): boolean => fence % claimsPerHistory === 1;
