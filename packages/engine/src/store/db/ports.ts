import type { DurationMs, Instant } from "@carillon/core";

/** The host's two clocks. The wall clock may jump; the monotonic one only grows and has no meaning outside the process. */
export interface HostClock {
  now(): Instant;
  monotonic(): DurationMs;
}

/** Timers as an argument, so that tests move time by hand. */
export interface Timers {
  setTimeout(callback: () => void, delayMs: DurationMs): unknown;
  clearTimeout(timer: unknown): void;
}

/** A number in [0, 1). */
export type Random = () => number;
