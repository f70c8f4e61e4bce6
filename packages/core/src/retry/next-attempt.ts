import type { DurationMs } from "../time/instant.js";
import { longestRetryWaitMs, type RetryPolicy } from "./policy.js";

/** An attempt that failed. */
export interface FailedAttempt {
  /** The number of the attempt that was just spent, from 1. */
  readonly attempt: number;
  /** `retryable: false` is the handler's own word that trying again is useless. */
  readonly error: { readonly type: string; readonly retryable?: boolean };
  /** From 0 (included) to 1 (excluded). */
  readonly random: number;
  /** What the other side asked for (Retry-After, RetryAfterError). It replaces the backoff. */
  readonly retryAfterMs?: DurationMs;
}

export type NextAttempt =
  | { readonly kind: "retry"; readonly delayMs: DurationMs }
  | { readonly kind: "dead"; readonly reason: "attempts_exhausted" | "non_retryable" };

/** Decides what follows a failed attempt: another one after a delay, or the dead letters. */
export function nextAttempt(policy: RetryPolicy, failed: FailedAttempt): NextAttempt {
  const { attempt, error, random, retryAfterMs } = failed;
  if (error.retryable === false || policy.nonRetryable.includes(error.type)) {
    return { kind: "dead", reason: "non_retryable" };
  }
  if (attempt >= policy.maxAttempts) return { kind: "dead", reason: "attempts_exhausted" };
  const delayMs =
    retryAfterMs === undefined ? jittered(policy, attempt, random) : asAsked(policy, retryAfterMs, random);
  return { kind: "retry", delayMs };
}

/** The shortest and longest wait that may follow this attempt; a preview shows the curve from these. */
export function backoffBounds(policy: RetryPolicy, attempt: number): { minMs: DurationMs; maxMs: DurationMs } {
  const maxMs = backoff(policy, attempt);
  const minMs = policy.jitter === "none" ? maxMs : policy.jitter === "equal" ? Math.ceil(maxMs / 2) : 0;
  return { minMs, maxMs };
}

function jittered(policy: RetryPolicy, attempt: number, random: number): DurationMs {
  const { minMs, maxMs } = backoffBounds(policy, attempt);
  return minMs + Math.floor(random * (maxMs - minMs + 1));
}

/** Never sooner than asked; up to a tenth later, so that all who were told the same do not come back together. */
function asAsked(policy: RetryPolicy, retryAfterMs: DurationMs, random: number): DurationMs {
  const asked = Math.ceil(Math.min(Math.max(retryAfterMs, 0), longestRetryWaitMs));
  return policy.jitter === "none" ? asked : asked + Math.floor(random * (asked / 10));
}

function backoff(policy: RetryPolicy, attempt: number): DurationMs {
  const { initialMs, factor, maxMs } = policy;
  // Infinity is a fine power here, but not times 0.
  if (initialMs === 0) return 0;
  const growth = policy.backoff === "fixed" ? 1 : policy.backoff === "linear" ? attempt : factor ** (attempt - 1);
  return Math.round(Math.min(initialMs * growth, maxMs));
}
