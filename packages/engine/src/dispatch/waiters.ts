import type { DurationMs } from "@carillon/core";
import type { Timers } from "../store/db/ports.js";

export interface Waiting {
  /** Resolves at the first hint since the registration, when the signal fires, or after the time. */
  wait(limitMs: DurationMs): Promise<void>;
  done(): void;
}

interface Waiter {
  /** null: any lane. */
  readonly lanes: ReadonlySet<number> | null;
  hinted: boolean;
  resolve: (() => void) | null;
}

/** Who waits for work in which lanes. A hint may be lost: each wait ends at the full-look period whatever happens. */
export class Waiters {
  readonly #timers: Timers;
  readonly #fullLookMs: DurationMs;
  readonly #waiting = new Set<Waiter>();

  constructor(options: { timers: Timers; fullLookMs: DurationMs }) {
    this.#timers = options.timers;
    this.#fullLookMs = options.fullLookMs;
  }

  /** null: anything may have changed, so everyone looks. */
  hint(lanes: ReadonlySet<number> | null): void {
    for (const waiter of this.#waiting) {
      if (lanes !== null && waiter.lanes !== null && !intersects(waiter.lanes, lanes)) continue;
      waiter.hinted = true;
      waiter.resolve?.();
    }
  }

  /** null: whatever is queued, in any lane. */
  register(lanes: readonly number[] | null, signal?: AbortSignal): Waiting {
    const waiter: Waiter = { lanes: lanes === null ? null : new Set(lanes), hinted: false, resolve: null };
    this.#waiting.add(waiter);
    return {
      wait: (limitMs) => this.#wait(waiter, Math.min(limitMs, this.#fullLookMs), signal),
      done: () => this.#waiting.delete(waiter),
    };
  }

  #wait(waiter: Waiter, limitMs: DurationMs, signal: AbortSignal | undefined): Promise<void> {
    if (waiter.hinted || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#timers.clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = this.#timers.setTimeout(end, limitMs);
      signal?.addEventListener("abort", end, { once: true });
      waiter.resolve = end;
    });
  }
}

function intersects(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  for (const lane of small) if (large.has(lane)) return true;
  return false;
}
