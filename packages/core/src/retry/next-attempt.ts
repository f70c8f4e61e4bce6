import type { DurationMs } from "../time/instant.js";
import { type RetryPolicy, maxRetryWaitMs } from "./retry-policy.js";

/** An attempt that failed. */
export interface FailedAttempt {
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  /** `retryable: false`: the handler declared that a retry is useless. */
  readonly error: { readonly type: string; readonly retryable?: boolean };
  /** From 0 (included) to 1 (excluded). */
  readonly random: number;
  /** The requested wait (Retry-After, RetryAfterError). It replaces the backoff. */
  readonly retryAfterMs?: DurationMs;
}

export type NextAttempt =
  | { readonly kind: "retry"; readonly delayMs: DurationMs }
  | { readonly kind: "dead"; readonly reason: "attempts_exhausted" | "non_retryable" };

/** Decides whether a failed attempt is retried after a delay or the run becomes a dead letter. */
export function nextAttempt(policy: RetryPolicy, failed: FailedAttempt): NextAttempt {
  const { attempt, error, random, retryAfterMs } = failed;
  if (error.retryable === false || policy.nonRetryable.includes(error.type)) {
    return { kind: "dead", reason: "non_retryable" };
  }
  if (attempt >= policy.maxAttempts) return { kind: "dead", reason: "attempts_exhausted" };
  const delayMs =
    retryAfterMs === undefined ? jittered(policy, attempt, random) : requestedDelay(policy, retryAfterMs, random);
  return { kind: "retry", delayMs };
}

/** The minimum and maximum wait after this attempt, from which a preview shows the backoff curve. */
export function backoffBounds(policy: RetryPolicy, attempt: number): { minMs: DurationMs; maxMs: DurationMs } {
  const maxMs = backoffMs(policy, attempt);
  const minMs = policy.jitter === "none" ? maxMs : policy.jitter === "equal" ? Math.ceil(maxMs / 2) : 0;
  return { minMs, maxMs };
}

function jittered(policy: RetryPolicy, attempt: number, random: number): DurationMs {
  const { minMs, maxMs } = backoffBounds(policy, attempt);
  return minMs + Math.floor(random * (maxMs - minMs + 1));
}

/** Never sooner than requested; up to a tenth later, so that runs with the same Retry-After do not all return at once. */
function requestedDelay(policy: RetryPolicy, retryAfterMs: DurationMs, random: number): DurationMs {
  const requested = Math.ceil(Math.min(Math.max(retryAfterMs, 0), maxRetryWaitMs));
  return policy.jitter === "none" ? requested : requested + Math.floor(random * (requested / 10));
}

function backoffMs(policy: RetryPolicy, attempt: number): DurationMs {
  const { initialMs, factor, maxMs } = policy;
  // Without this, 0 times an infinite power would be NaN.
  if (initialMs === 0) return 0;
  const growth = policy.backoff === "fixed" ? 1 : policy.backoff === "linear" ? attempt : factor ** (attempt - 1);
  return Math.round(Math.min(initialMs * growth, maxMs));
}
