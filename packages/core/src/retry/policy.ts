import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { DurationMs } from "../time/instant.js";

export type Backoff = "exponential" | "linear" | "fixed";
export type RetryJitter = "full" | "equal" | "none";

/** What happens after an attempt that failed. The wait before attempt n + 1 grows with n and never exceeds `maxMs`. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** The wait after the first failure, before jitter. */
  readonly initialMs: DurationMs;
  /** What an exponential wait is multiplied by after each failure. */
  readonly factor: number;
  readonly maxMs: DurationMs;
  /** full: anywhere from nothing to the whole wait; equal: from its half to the whole; none: exactly the wait. */
  readonly jitter: RetryJitter;
  /** Error types that end the run at once. */
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

/** A year: no wait between two tries, by backoff or by Retry-After, is longer. */
export const longestRetryWaitMs: DurationMs = 366 * 86_400_000;

const largestAttempts = 10_000;
const largestFactor = 1_000;

/** Adds the defaults to what a user gave and refuses what makes no sense, every fault at once. */
export function retryPolicy(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy = { ...defaultRetryPolicy, ...given };
  // A cap below the default first wait lowers the wait; only a cap below a wait that was given is a contradiction.
  if (given.initialMs === undefined) policy.initialMs = Math.min(policy.initialMs, policy.maxMs);
  const items = faultsOf(policy);
  if (items.length > 0) {
    throw new CarillonError("retry_invalid", items.map((item) => item.detail).join("; "), { items });
  }
  return policy;
}

function faultsOf(policy: RetryPolicy): ErrorItem[] {
  const items: ErrorItem[] = [];
  const check = (holds: boolean, pointer: string, detail: string) => {
    if (!holds) items.push({ pointer, code: "retry_invalid", detail });
  };
  const { maxAttempts, backoff, initialMs, factor, maxMs, jitter, nonRetryable } = policy;
  const whole = (value: number, from: number, to: number) => Number.isInteger(value) && value >= from && value <= to;
  check(
    whole(maxAttempts, 1, largestAttempts),
    "/max_attempts",
    `max_attempts must be a whole number from 1 to ${largestAttempts}, not ${maxAttempts}`,
  );
  check(
    ["exponential", "linear", "fixed"].includes(backoff),
    "/backoff",
    `backoff must be exponential, linear or fixed, not ${backoff}`,
  );
  check(whole(initialMs, 0, longestRetryWaitMs), "/initial", "initial must be a duration from 0s to 366d");
  check(
    Number.isFinite(factor) && factor >= 1 && factor <= largestFactor,
    "/factor",
    `factor must be a number from 1 to ${largestFactor}, not ${factor}`,
  );
  check(whole(maxMs, 0, longestRetryWaitMs), "/max", "max must be a duration from 0s to 366d");
  check(!(maxMs < initialMs), "/max", "max must not be shorter than initial");
  check(Array.isArray(nonRetryable), "/non_retryable", "non_retryable must be a list of names of errors");
  check(["full", "equal", "none"].includes(jitter), "/jitter", `jitter must be full, equal or none, not ${jitter}`);
  return items;
}
