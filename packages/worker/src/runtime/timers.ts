import type { DurationMs, Soon } from "@carillon/core";

/** Timers and a clock that only grows, as arguments, so that tests move time by hand. */
export interface WorkerTimers {
  setTimeout(callback: () => void, delayMs: DurationMs): unknown;
  clearTimeout(timer: unknown): void;
  monotonic(): DurationMs;
  readonly soon: Soon;
}
