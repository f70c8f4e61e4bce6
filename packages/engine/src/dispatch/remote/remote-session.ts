import type { DurationMs, StopOrder } from "@carillon/core";
import type { Timers } from "../../store/db/ports.js";
import type { Assigned } from "../assignment-of.js";

interface Named {
  readonly runId: string;
  readonly fence: number;
}

/** A worker elsewhere, between two of its polls: what it is to be told, and whether it waits for it. */
export class RemoteSession {
  readonly #timers: Timers;
  /** Given to it, and not yet named by it: the answer that brought them may have been lost. */
  readonly #outbox = new Map<string, Assigned>();
  readonly #stops = new Map<string, StopOrder>();
  #heardAt: DurationMs;
  #wake: (() => void) | null = null;

  constructor(timers: Timers, now: DurationMs) {
    this.#timers = timers;
    this.#heardAt = now;
  }

  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  get heardAt(): DurationMs {
    return this.#heardAt;
  }

  hear(now: DurationMs): void {
    this.#heardAt = now;
  }

  give(assigned: readonly Assigned[]): void {
    for (const run of assigned) this.#outbox.set(run.runId, run);
    this.wake();
  }

  tellToStop(orders: readonly StopOrder[]): void {
    for (const order of orders) this.#stops.set(order.runId, order);
    this.wake();
  }

  /** The worker names these: it was told of them. */
  know(runs: readonly Named[]): void {
    for (const { runId, fence } of runs) if (this.#outbox.get(runId)?.fence === fence) this.#outbox.delete(runId);
  }

  /** All that it has not named yet; what it was told before is told again. */
  get outbox(): readonly Assigned[] {
    return [...this.#outbox.values()];
  }

  /** Orders are passed on once; whoever gives them repeats them as long as it matters. */
  takeStops(): StopOrder[] {
    const stops = [...this.#stops.values()];
    this.#stops.clear();
    return stops;
  }

  get hasNews(): boolean {
    return this.#outbox.size + this.#stops.size > 0;
  }

  /** Resolves when there is something to tell, when a newer poll comes, when the time is over, or when the caller goes away. */
  wait(limitMs: DurationMs, signal?: AbortSignal): Promise<void> {
    this.wake();
    if (this.hasNews || limitMs <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#timers.clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        if (this.#wake === end) this.#wake = null;
        resolve();
      };
      const timer = this.#timers.setTimeout(end, limitMs);
      signal?.addEventListener("abort", end, { once: true });
      this.#wake = end;
    });
  }

  /** Ends the wait, if there is one. */
  wake(): void {
    this.#wake?.();
  }
}
