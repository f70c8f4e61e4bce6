import { CarillonError, type DurationMs, isFinal, type Timers } from "@carillon/core";
import type { RunView } from "./run-view.js";
import type { RunReader } from "./run-reader.js";
import type { WaitRequest } from "../requests.js";

export interface RunWaitersOptions {
  readonly runs: Pick<RunReader, "findMany">;
  readonly timers: Timers;
  /** Asks for a tick soon. */
  readonly wake: () => void;
  /** Callers that may wait at a time; one more is refused as overloaded. */
  readonly most: number;
}

/** Runs of other nodes end unheard here: those that are waited for are looked at this often, all in one read. */
const lookEveryMs: DurationMs = 500;
const idleMs: DurationMs = 60_000;

interface Waiter {
  readonly namespaceId: number;
  readonly runId: string;
  readonly end: (run: RunView | null) => void;
}

/** Callers that wait for the end of runs. One read serves all of them, however many they are. */
export class RunWaiters {
  readonly #options: RunWaitersOptions;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #count = 0;
  #heard = false;
  #stopped = false;

  constructor(options: RunWaitersOptions) {
    this.#options = options;
  }

  /** The run when it has ended; null when it has not in time, or is not there. */
  wait(namespaceId: number, runId: string, { waitMs, signal }: WaitRequest): Promise<RunView | null> {
    const { timers, wake, most } = this.#options;
    if (this.#stopped || signal?.aborted) return Promise.resolve(null);
    if (this.#count >= most) throw new CarillonError("overloaded", `${most} callers already wait for runs.`);
    return new Promise((resolve) => {
      const end = (run: RunView | null): void => {
        timers.clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#remove(waiter);
        resolve(run);
      };
      const giveUp = (): void => end(null);
      const waiter: Waiter = { namespaceId, runId, end };
      const timer = timers.setTimeout(giveUp, waitMs);
      signal?.addEventListener("abort", giveUp);
      this.#waiters.set(runId, (this.#waiters.get(runId) ?? new Set()).add(waiter));
      this.#count += 1;
      // It may have ended before it was waited for.
      this.#heard = true;
      wake();
    });
  }

  /** A run ended on this node. */
  finished(runId: string): void {
    if (!this.#waiters.has(runId)) return;
    this.#heard = true;
    this.#options.wake();
  }

  /** One look at all that is waited for; answers how long the next may wait. */
  async tick(): Promise<DurationMs> {
    this.#heard = false;
    const byNamespace = new Map<number, Set<string>>();
    for (const { namespaceId, runId } of this.#all()) {
      byNamespace.set(namespaceId, (byNamespace.get(namespaceId) ?? new Set()).add(runId));
    }
    for (const [namespaceId, ids] of byNamespace) {
      const found = await this.#options.runs.findMany(namespaceId, [...ids]);
      for (const waiter of this.#all()) {
        if (waiter.namespaceId !== namespaceId) continue;
        const run = found.get(waiter.runId);
        if (run !== undefined && isFinal(run.status)) waiter.end(run);
      }
    }
    if (this.#heard) return 0;
    return this.#count === 0 ? idleMs : lookEveryMs;
  }

  /** Whoever waits is answered. */
  stop(): void {
    this.#stopped = true;
    for (const waiter of this.#all()) waiter.end(null);
  }

  #all(): Waiter[] {
    return [...this.#waiters.values()].flatMap((some) => [...some]);
  }

  #remove(waiter: Waiter): void {
    const some = this.#waiters.get(waiter.runId);
    if (some?.delete(waiter) !== true) return;
    this.#count -= 1;
    if (some.size === 0) this.#waiters.delete(waiter.runId);
  }
}
