import type { DurationMs } from "@carillon/core";
import type { WorkerTimers } from "./timers.js";

/** Waits for a time; rejects with the signal's reason when that fires. */
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
