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

/** Globals of every supported host that the ES library types do not declare. */
declare const performance: { now(): number };
declare function setTimeout(callback: () => void, delayMs: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** The clocks of the host. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Hosts fire a timer with a longer delay immediately. */
const maxDelayMs = 2 ** 31 - 1;

interface SystemTimer {
  timer: unknown;
}

/** The timers of the host, for delays of any length. */
export const systemTimers: Timers = {
  setTimeout(callback, delayMs) {
    const held: SystemTimer = { timer: undefined };
    const arm = (restMs: number) => {
      const stepMs = Math.min(restMs, maxDelayMs);
      held.timer = setTimeout(stepMs < restMs ? () => arm(restMs - stepMs) : callback, stepMs);
    };
    arm(delayMs);
    return held;
  },
  clearTimeout(timer) {
    // The interface types a timer as unknown; callers pass the result of setTimeout above, or nothing.
    if (timer !== undefined && timer !== null) clearTimeout((timer as SystemTimer).timer);
  },
};

/** Node has setImmediate; other hosts use a timer of 0 ms. */
const immediate = (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate;

export const systemSoon: Soon = (callback) =>
  void (immediate === undefined ? setTimeout(callback, 0) : immediate(callback));

declare const crypto: { getRandomValues(into: Uint8Array): Uint8Array };

/** Unpredictable bytes, for ids and secrets. */
export function systemRandomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

/** From 0 (included) to 1 (excluded); for jitter, not for secrets. */
export function systemRandom(): number {
  return Math.random();
}
