import type { Clock, Soon, Timers } from "./clock.js";

/** What every host of this package has, though the language's own library does not name it. */
declare const performance: { now(): number };
declare function setTimeout(callback: () => void, delayMs: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Hosts fire a timer with a longer delay at once. */
const longestDelayMs = 2 ** 31 - 1;

interface SystemTimer {
  timer: unknown;
}

/** The machine's own timers, for delays of any length. */
export const systemTimers: Timers = {
  setTimeout(callback, delayMs) {
    const held: SystemTimer = { timer: undefined };
    const arm = (restMs: number) => {
      const stepMs = Math.min(restMs, longestDelayMs);
      held.timer = setTimeout(stepMs < restMs ? () => arm(restMs - stepMs) : callback, stepMs);
    };
    arm(delayMs);
    return held;
  },
  clearTimeout(timer) {
    // The port calls a timer unknown; what comes back is what setTimeout above gave out, or nothing.
    if (timer !== undefined && timer !== null) clearTimeout((timer as SystemTimer).timer);
  },
};

/** Only Node and its like have it; elsewhere the next turn has to do. */
const immediate = (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate;

export const systemSoon: Soon = (callback) =>
  void (immediate === undefined ? setTimeout(callback, 0) : immediate(callback));
