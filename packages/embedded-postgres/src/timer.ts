import { setTimeout as sleep } from "node:timers/promises";

/** All delays of this package, so that tests can shorten them. */
export interface Timer {
  /** Resolves after `ms`; rejects when the signal aborts. With `keepAlive: false` it does not hold the process open. */
  delay(ms: number, options?: { signal?: AbortSignal | undefined; keepAlive?: boolean }): Promise<void>;
}

export const systemTimer: Timer = {
  async delay(ms, { signal, keepAlive = true } = {}) {
    await sleep(ms, undefined, { ref: keepAlive, ...(signal && { signal }) });
  },
};
