/** Timers whose time advances only when the test says so. */
export function manualTimers() {
  let now = 0;
  let waiting: { at: number; callback: () => void }[] = [];
  return {
    monotonic: () => now,
    soon: setImmediate,
    setTimeout(callback: () => void, delayMs: number): unknown {
      const timer = { at: now + delayMs, callback };
      if (delayMs <= 0) queueMicrotask(callback);
      else waiting.push(timer);
      return timer;
    },
    clearTimeout(timer: unknown): void {
      waiting = waiting.filter((one) => one !== timer);
    },
    advance(ms: number): void {
      now += ms;
      const due = waiting.filter((one) => one.at <= now);
      waiting = waiting.filter((one) => one.at > now);
      for (const one of due) one.callback();
    },
  };
}
