import { CarillonError, type DurationMs, isFinal } from "@carillon/core";
import type { EngineContext } from "../context.js";
import type { WaitRequest } from "../requests.js";
import type { RunReader, RunView } from "./run-reader.js";

/** This node is not notified of the ends of runs on other nodes: runs with waiting callers are read this often, all in one read. */
const pollMs: DurationMs = 500;
const idleMs: DurationMs = 60_000;

interface Waiter {
  readonly namespaceId: number;
  readonly runId: string;
  readonly end: (run: RunView | null) => void;
}

/** Callers that wait for the end of runs. One read serves all of them, however many they are. */
export class RunWaiters {
  readonly #context: Pick<EngineContext, "timers" | "limits" | "loops">;
  readonly #runs: Pick<RunReader, "findMany">;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #count = 0;
  #hasNews = false;
  #isStopped = false;

  constructor(
    context: Pick<EngineContext, "timers" | "limits" | "loops" | "events">,
    runs: Pick<RunReader, "findMany">,
  ) {
    this.#context = context;
    this.#runs = runs;
    context.loops.register("waiters", () => this.#tick());
    context.events.onRunEnd(({ runId }) => {
      if (this.#waiters.has(runId)) this.#wake();
    });
  }

  /** The run when it has ended; null when it has not in time, or does not exist. */
  wait(namespaceId: number, runId: string, { waitMs, signal }: WaitRequest): Promise<RunView | null> {
    const { timers, limits } = this.#context;
    if (this.#isStopped || signal?.aborted) return Promise.resolve(null);
    if (this.#count >= limits.runWaiters)
      throw new CarillonError("overloaded", `${limits.runWaiters} callers already wait for runs.`);
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
      // The run may have ended before this call.
      this.#wake();
    });
  }

  /** Answers every waiting caller. */
  stop(): void {
    this.#isStopped = true;
    for (const waiter of this.#all()) waiter.end(null);
  }

  #wake(): void {
    this.#hasNews = true;
    this.#context.loops.wake("waiters");
  }

  /** Reads all runs that callers wait for; returns how long the next pass may wait. */
  async #tick(): Promise<DurationMs> {
    this.#hasNews = false;
    const byNamespace = new Map<number, Set<string>>();
    for (const { namespaceId, runId } of this.#all()) {
      byNamespace.set(namespaceId, (byNamespace.get(namespaceId) ?? new Set()).add(runId));
    }
    for (const [namespaceId, ids] of byNamespace) {
      const found = await this.#runs.findMany(namespaceId, [...ids]);
      for (const waiter of this.#all()) {
        if (waiter.namespaceId !== namespaceId) continue;
        const run = found.get(waiter.runId);
        if (run !== undefined && isFinal(run.status)) waiter.end(run);
      }
    }
    if (this.#hasNews) return 0;
    return this.#count === 0 ? idleMs : pollMs;
  }

  #all(): Waiter[] {
    return [...this.#waiters.values()].flatMap((waiters) => [...waiters]);
  }

  #remove(waiter: Waiter): void {
    const waiters = this.#waiters.get(waiter.runId);
    if (waiters?.delete(waiter) !== true) return;
    this.#count -= 1;
    if (waiters.size === 0) this.#waiters.delete(waiter.runId);
  }
}
