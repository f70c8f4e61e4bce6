import { type DurationMs, type Soon, systemClock, systemSoon, systemTimers } from "@carillon/core";

/** Timers and a monotonic clock, passed as an argument so that tests control time. */
export interface WorkerTimers {
  setTimeout(callback: () => void, delayMs: DurationMs): unknown;
  clearTimeout(timer: unknown): void;
  monotonic(): DurationMs;
  readonly soon: Soon;
}

/** The timers and the clock of the system. */
export const workerTimers: WorkerTimers = {
  ...systemTimers,
  monotonic: () => systemClock.monotonic(),
  soon: systemSoon,
};

/** Resolves after the delay; rejects with the signal's reason when the signal fires first. */
export function wait(
  delayMs: DurationMs,
  signal: AbortSignal,
  timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timers.clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    };
    const timer = timers.setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, delayMs);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
