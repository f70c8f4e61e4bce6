import { CarillonError, type DurationMs, type Timers } from "@carillon/core";
import type { Random } from "./options.js";
const firstMs = 50;
/** Well below a lease: whoever finds the database again first takes those for dead that do not within one. */
const longestMs = 1_000;

/** The wait before try `attempt` (from 1): doubling, capped, and spread over its upper half so that nodes do not march in step. */
export function backoffMs(attempt: number, random: Random): DurationMs {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 16));
  return full / 2 + random() * (full / 2);
}

/** Resolves after the delay, or at once when the signal fires. */
export function pause(delayMs: DurationMs, timers: Timers, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      timers.clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = timers.setTimeout(done, delayMs);
    signal?.addEventListener("abort", done);
  });
}

export function gaveUp(last: CarillonError, deadlineMs: DurationMs): CarillonError {
  const seconds = Math.round(deadlineMs / 1000);
  return new CarillonError("database_unavailable", `Gave up after ${seconds} s. ${last.message}`, { cause: last });
}
