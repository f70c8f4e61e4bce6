import { type DurationMs, pending, type StopOrder, type Timers } from "@carillon/core";
import type { Assigned } from "../sessions/to-assignment.js";
import type { LastWord } from "./worker-expiry.js";

interface Named {
  readonly runId: string;
  readonly fence: number;
}

interface Told {
  readonly run: Assigned;
  /** The number of the poll whose answer brought it; null: none yet, or that answer was lost. */
  in: number | null;
}

/** A worker elsewhere, between two of its polls: what it is to be told, and whether it waits for it. */
export class RemoteSession {
  readonly lastWord: LastWord;
  readonly #timers: Timers;
  /** Given to it, and not known to have arrived: the answer that brought them may have been lost. */
  readonly #outbox = new Map<string, Told>();
  readonly #stops = new Map<string, StopOrder>();
  #untold = 0;
  #wake: (() => void) | null = null;
  #polls = 0;
  #lastPoll = 0;
  #drain: "drain" | "leave" | null = null;

  constructor(timers: Timers, lastWord: LastWord) {
    this.#timers = timers;
    this.lastWord = lastWord;
  }

  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  /** Some poll of it is being answered. */
  get isPolling(): boolean {
    return this.#polls > 0;
  }

  /** Something is on its way to it, or may be. */
  get isGiven(): boolean {
    return this.#outbox.size > 0;
  }

  /** Answers the number of the poll: its own, or the next. */
  beginPoll(number?: number): number {
    this.#polls++;
    this.#lastPoll = Math.max(this.#lastPoll + 1, number ?? 0);
    return number ?? this.#lastPoll;
  }

  endPoll(): void {
    this.#polls--;
  }

  give(assigned: readonly Assigned[]): void {
    for (const run of assigned) {
      if (this.#outbox.get(run.runId)?.in !== null) this.#untold++;
      this.#outbox.set(run.runId, { run, in: null });
    }
    this.wake();
  }

  tellToStop(orders: readonly StopOrder[]): void {
    for (const order of orders) this.#stops.set(order.runId, order);
    this.wake();
  }

  /** The worker names these: it was told of them. */
  know(runs: readonly Named[]): void {
    if (this.#outbox.size === 0) return;
    for (const { runId, fence } of runs) {
      const told = this.#outbox.get(runId);
      if (told?.run.fence !== fence) continue;
      if (told.in === null) this.#untold--;
      this.#outbox.delete(runId);
    }
  }

  /** The answers of all polls up to this one arrived, and with them what they brought. */
  arrived(upTo: number): void {
    for (const [runId, told] of this.#outbox) if (told.in !== null && told.in <= upTo) this.#outbox.delete(runId);
  }

  /** All polls up to this one are over, and what is left of what they brought did not arrive: it is told again. */
  missed(upTo: number): void {
    for (const told of this.#outbox.values()) {
      if (told.in === null || told.in > upTo) continue;
      told.in = null;
      this.#untold++;
    }
  }

  /** What no poll has brought yet; this one does, until that weighs so many characters of payloads: the next poll brings the rest. */
  takeRuns(poll: number, mostChars = Number.POSITIVE_INFINITY): readonly Assigned[] {
    if (this.#untold === 0) return [];
    const taken: Assigned[] = [];
    let chars = 0;
    for (const told of this.#outbox.values()) {
      if (told.in !== null) continue;
      chars += told.run.payloadJson.length;
      if (chars > mostChars && taken.length > 0) break;
      told.in = poll;
      taken.push(told.run);
    }
    this.#untold -= taken.length;
    return taken;
  }

  /** Orders are passed on once; whoever gives them repeats them as long as it matters. */
  takeStops(): StopOrder[] {
    const stops = [...this.#stops.values()];
    this.#stops.clear();
    return stops;
  }

  /** The worker is to end. It is told once, and again for as long as it is asked for. */
  tellToDrain(isNotice: boolean): void {
    this.#drain = isNotice ? "leave" : "drain";
    this.wake();
  }

  takeDrain(): { readonly isToDrain: boolean; readonly isToLeave: boolean } {
    const drain = this.#drain;
    this.#drain = null;
    return { isToDrain: drain !== null, isToLeave: drain === "leave" };
  }

  get hasNews(): boolean {
    return this.#untold + this.#stops.size > 0 || this.#drain !== null;
  }

  /** Resolves when there is something to tell, when a newer poll waits, when the time is over, or when the caller goes away. */
  wait(limitMs: DurationMs, signal?: AbortSignal): Promise<void> {
    this.wake();
    if (this.hasNews || limitMs <= 0 || signal?.aborted) return Promise.resolve();
    const { promise, resolve } = pending<void>();
    const end = (): void => {
      this.#timers.clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (this.#wake === end) this.#wake = null;
      resolve();
    };
    const timer = this.#timers.setTimeout(end, limitMs);
    signal?.addEventListener("abort", end, { once: true });
    this.#wake = end;
    return promise;
  }

  /** Ends the wait, if there is one. */
  wake(): void {
    this.#wake?.();
  }
}
