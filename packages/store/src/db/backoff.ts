import type { DurationMs, Timers } from "@carillon/core";
import type { Random } from "./options.js";

const firstMs = 50;
/** Well below a lease: a node that finds the database again declares nodes dead that need longer than a lease for it. */
const maxMs = 1_000;

/** The wait before try `attempt` (from 1): doubling, capped, and spread over its upper half so that nodes do not try at the same moments. */
export function backoffMs(attempt: number, random: Random): DurationMs {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 16));
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
