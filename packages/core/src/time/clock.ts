import type { DurationMs, Instant } from "./instant.js";

/** Two clocks. The wall clock may jump; the monotonic one only grows and means nothing outside the process. */
export interface Clock {
  now(): Instant;
  monotonic(): DurationMs;
}

/** Timers as an argument, so that tests move time by hand. They follow the monotonic clock. */
export interface Timers {
  setTimeout(callback: () => void, delayMs: DurationMs): unknown;
  clearTimeout(timer: unknown): void;
}

/** Calls back after what is under way now, so that what comes until then is dealt with together. */
export type Soon = (callback: () => void) => void;
