import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { DurationMs } from "../time/instant.js";

export type Backoff = "exponential" | "linear" | "fixed";
export type RetryJitter = "full" | "equal" | "none";

/** How a failed attempt is retried. The wait before attempt n + 1 grows with n and never exceeds `maxMs`. */
export interface RetryPolicy {
  /** All attempts, the first included. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** The wait after the first failure, before jitter. */
  readonly initialMs: DurationMs;
  /** The factor of an exponential wait after each failure. */
  readonly factor: number;
  readonly maxMs: DurationMs;
  /** full: from 0 to the whole wait; equal: from half of the wait to the whole; none: exactly the wait. */
  readonly jitter: RetryJitter;
  /** Error types after which the run is not retried. */
  readonly nonRetryable: readonly string[];
}

export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  maxAttempts: 5,
  backoff: "exponential",
  initialMs: 1_000,
  factor: 2,
  maxMs: 3_600_000,
  jitter: "full",
  nonRetryable: Object.freeze([]),
});

/** The maximum wait between two attempts, by backoff or by Retry-After: a year. */
export const maxRetryWaitMs: DurationMs = 366 * 86_400_000;

const maxAllowedAttempts = 10_000;
const maxFactor = 1_000;

/** Adds the defaults to the given members. Throws `retry_invalid` with all problems. */
export function retryPolicy(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy = { ...defaultRetryPolicy, ...given };
  // A maximum below the default initial wait lowers it; only one below a given initial wait is a contradiction.
  if (given.initialMs === undefined) policy.initialMs = Math.min(policy.initialMs, policy.maxMs);
  const items = problemsOf(policy);
  if (items.length > 0) {
    throw new CarillonError("retry_invalid", items.map((item) => item.detail).join(" "), { items });
  }
  return policy;
}

function problemsOf(policy: RetryPolicy): ErrorItem[] {
  const items: ErrorItem[] = [];
  const check = (holds: boolean, pointer: string, detail: string) => {
    if (!holds) items.push({ pointer, code: "retry_invalid", detail });
  };
  const { maxAttempts, backoff, initialMs, factor, maxMs, jitter, nonRetryable } = policy;
  const whole = (value: number, from: number, to: number) => Number.isInteger(value) && value >= from && value <= to;
  check(
    whole(maxAttempts, 1, maxAllowedAttempts),
    "/max_attempts",
    `Field max_attempts must be a whole number from 1 to ${maxAllowedAttempts}, not ${maxAttempts}.`,
  );
  check(
    ["exponential", "linear", "fixed"].includes(backoff),
    "/backoff",
    `Field backoff must be exponential, linear or fixed, not ${backoff}.`,
  );
  check(whole(initialMs, 0, maxRetryWaitMs), "/initial", "Field initial must be a duration from 0s to 366d.");
  check(
    Number.isFinite(factor) && factor >= 1 && factor <= maxFactor,
    "/factor",
    `Field factor must be a number from 1 to ${maxFactor}, not ${factor}.`,
  );
  check(whole(maxMs, 0, maxRetryWaitMs), "/max", "Field max must be a duration from 0s to 366d.");
  check(!(maxMs < initialMs), "/max", "Field max must not be shorter than initial.");
  check(Array.isArray(nonRetryable), "/non_retryable", "Field non_retryable must be a list of error types.");
  check(
    ["full", "equal", "none"].includes(jitter),
    "/jitter",
    `Field jitter must be full, equal or none, not ${jitter}.`,
  );
  return items;
}
