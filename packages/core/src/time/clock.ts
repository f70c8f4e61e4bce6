import type { DurationMs, Instant } from "./instant.js";

/** Two clocks. The wall clock may jump; the monotonic one only grows and means nothing outside the process. */
export interface Clock {
  now(): Instant;
  monotonic(): DurationMs;
}

/** Timers as an argument, so that tests control time. They follow the monotonic clock. */
export interface Timers {
  setTimeout(callback: () => void, delayMs: DurationMs): unknown;
  clearTimeout(timer: unknown): void;
}

/** Calls back after the current work, so that requests that arrive until then are handled as one batch. */
export type Soon = (callback: () => void) => void;
