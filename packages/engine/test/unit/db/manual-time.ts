import type { HostClock, Timers } from "../../../src/store/db/ports.js";

interface Pending {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands still until it is moved. Timers fire in order while it moves. */
export class ManualTime implements HostClock, Timers {
  #monotonic = 0;
  #wall = 1_700_000_000_000;
  readonly #pending = new Set<Pending>();

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimeout(callback: () => void, delayMs: number): Pending {
    const timer = { at: this.#monotonic + delayMs, callback };
    this.#pending.add(timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    for (const pending of this.#pending) if (pending === timer) this.#pending.delete(pending);
  }

  get timers(): number {
    return this.#pending.size;
  }

  /** The wall clock alone jumps, as when an operator sets it. */
  jump(byMs: number): void {
    this.#wall += byMs;
  }

  /** Moves both clocks on, firing what comes due, and lets what it woke run. */
  async pass(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    for (;;) {
      const [next] = [...this.#pending].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#move(next.at - this.#monotonic);
      this.#pending.delete(next);
      next.callback();
      await settled();
    }
    this.#move(until - this.#monotonic);
    await settled();
  }

  #move(byMs: number): void {
    this.#monotonic += byMs;
    this.#wall += byMs;
  }
}

/** Lets every promise that can settle now do so. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
