import { fingerprintOf } from "../errors/fingerprint.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** A run handed to a worker. Everything that is later said of it carries the fence. */
export interface Assignment {
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  /** The number of this try, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Once begun, nobody may begin it again. */
  readonly atMostOnce: boolean;
  /** Grows with every claim of the run and is never used again. */
  readonly fence: number;
  readonly timeoutMs: DurationMs | null;
  readonly scheduledFor: Instant;
  readonly runAt: Instant;
  /** Where the trace of whoever asked for it was left. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** What a handler threw, in the form that is stored and shown. */
export interface RunError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly retryable: boolean;
  /** Names its kind; given by the server. */
  readonly fingerprint?: string;
}

/** The error with the name of its kind. */
export function named(error: RunError): RunError {
  return { ...error, fingerprint: fingerprintOf(error) };
}

/** A worker is asked to stop a run; `fence` names the claim under which it holds the run. */
export interface StopOrder {
  readonly runId: string;
  readonly fence: number;
  readonly reason: string;
}

export type Outcome =
  /** The result as JSON: nobody on its way to the store reads it. */
  | { readonly kind: "succeeded"; readonly outputJson: string }
  /** The handler ended because it was asked to; what it threw, if anything. */
  | { readonly kind: "cancelled"; readonly error: RunError | null }
  /** The handler asks to be called again later; nothing was spent. */
  | { readonly kind: "snoozed"; readonly delayMs: DurationMs }
  /** Somebody else ends the run by a callback: until then it goes on without a worker, no longer than this. */
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
  /** How long ago, when this is sent, the handler started: durations travel, wall clocks do not. */
  readonly startedAgoMs: DurationMs;
  readonly outcome: Outcome;
}

/** What becomes of an attempt that took too long, whoever ends it. */
export function timeoutOutcome(timeoutMs: DurationMs): Outcome {
  const message = `the handler did not end within its timeout of ${timeoutMs} ms`;
  return { kind: "failed", reason: "timeout", error: { type: "TimeoutError", message, retryable: true } };
}

/** Why a run failed that had not ended by its deadline. */
export const deadlineError: RunError = Object.freeze(
  named({ type: "DeadlineExceeded", message: "the run had not ended by its deadline", retryable: false }),
);
