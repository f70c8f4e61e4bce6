import { type DurationMs, pending, type StopOrder, type Timers } from "@carillon/core";
import type { Assigned, ClaimName } from "../sessions/worker-registration.js";

interface OutboxEntry {
  readonly run: Assigned;
  /** The number of the poll whose answer contained it; null: none yet, or that answer was lost. */
  poll: number | null;
}

/** A worker of another process, between two of its polls: the assignments and orders for it, and whether a poll waits for them. */
export class RemoteSession {
  readonly liveness: Liveness;
  readonly #timers: Timers;
  /** Assigned, and not acknowledged: the answer that contained them may have been lost. */
  readonly #outbox = new Map<string, OutboxEntry>();
  readonly #stops = new Map<string, StopOrder>();
  /** Entries of the outbox that no open answer contains. */
  #unsent = 0;
  #wake: (() => void) | null = null;
  #polls = 0;
  #lastPoll = 0;
  #drain: "drain" | "leave" | null = null;

  constructor(timers: Timers, liveness: Liveness) {
    this.#timers = timers;
    this.liveness = liveness;
  }

  /** Some poll of it is being answered. */
  get isPolling(): boolean {
    return this.#polls > 0;
  }

  /** Assignments are on their way to it, or may be. */
  get hasUnacknowledged(): boolean {
    return this.#outbox.size > 0;
  }

  /** Returns the number of the poll: its own, or the next. */
  beginPoll(number?: number): number {
    this.#polls++;
    this.#lastPoll = Math.max(this.#lastPoll + 1, number ?? 0);
    return number ?? this.#lastPoll;
  }

  endPoll(): void {
    this.#polls--;
  }

  assign(assigned: readonly Assigned[]): void {
    for (const run of assigned) {
      if (this.#outbox.get(run.runId)?.poll !== null) this.#unsent++;
      this.#outbox.set(run.runId, { run, poll: null });
    }
    this.wake();
  }

  orderStops(orders: readonly StopOrder[]): void {
    for (const order of orders) this.#stops.set(order.runId, order);
    this.wake();
  }

  /** The worker names these claims: their assignments arrived. */
  acknowledge(claims: readonly ClaimName[]): void {
    if (this.#outbox.size === 0) return;
    for (const { runId, fence } of claims) {
      const entry = this.#outbox.get(runId);
      if (entry?.run.fence !== fence) continue;
      if (entry.poll === null) this.#unsent--;
      this.#outbox.delete(runId);
    }
  }

  /** The answers of all polls up to this one arrived, and with them their assignments. */
  acknowledgeUpTo(poll: number): void {
    for (const [runId, entry] of this.#outbox)
      if (entry.poll !== null && entry.poll <= poll) this.#outbox.delete(runId);
  }

  /** All polls up to this one are over, and assignments of theirs that are not acknowledged did not arrive: they are sent again. */
  resendUpTo(poll: number): void {
    for (const entry of this.#outbox.values()) {
      if (entry.poll === null || entry.poll > poll) continue;
      entry.poll = null;
      this.#unsent++;
    }
  }

  /** Assignments that no answer contains yet, for the answer of this poll, up to so many characters of payloads: the next poll gets the rest. */
  takeRuns(poll: number, maxChars = Number.POSITIVE_INFINITY): readonly Assigned[] {
    if (this.#unsent === 0) return [];
    const taken: Assigned[] = [];
    let chars = 0;
    for (const entry of this.#outbox.values()) {
      if (entry.poll !== null) continue;
      chars += entry.run.payloadJson.length;
      if (chars > maxChars && taken.length > 0) break;
      entry.poll = poll;
      taken.push(entry.run);
    }
    this.#unsent -= taken.length;
    return taken;
  }

  /** Orders are sent once; the monitor that gives them repeats them as long as it matters. */
  takeStops(): StopOrder[] {
    const stops = [...this.#stops.values()];
    this.#stops.clear();
    return stops;
  }

  /** The worker has to end. The order is sent once, and again for as long as the operator's request stands. */
  orderDrain(isNotice: boolean): void {
    this.#drain = isNotice ? "leave" : "drain";
    this.wake();
  }

  takeDrain(): { readonly isToDrain: boolean; readonly isToLeave: boolean } {
    const drain = this.#drain;
    this.#drain = null;
    return { isToDrain: drain !== null, isToLeave: drain === "leave" };
  }

  get hasNews(): boolean {
    return this.#unsent + this.#stops.size > 0 || this.#drain !== null;
  }

  /** Resolves when there is something to send, when a newer poll waits, when the time is over, or when the caller goes away. */
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

/**
 * When a worker of another process last sent a heartbeat or a poll, and for how long it counts as connected after that. One with runs: a
 * third of the worker timeout, because others wait to get them. An idle one may send them rarely: it has no run to rescue.
 */
export class Liveness {
  readonly #timeoutMs: DurationMs;
  #heartbeatAt: DurationMs;
  #assignedAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(timeoutMs: DurationMs, now: DurationMs) {
    this.#timeoutMs = timeoutMs;
    this.#heartbeatAt = now;
  }

  heartbeat(now: DurationMs): void {
    this.#heartbeatAt = now;
  }

  /** Its connection broke: it counts as disconnected until its next heartbeat. */
  disconnected(): void {
    this.#heartbeatAt = Number.NEGATIVE_INFINITY;
    this.#assignedAt = Number.NEGATIVE_INFINITY;
  }

  /** An idle worker is assigned runs: from now on it has the time of one with runs. A disconnected worker stays disconnected. */
  assigned(now: DurationMs): void {
    if (this.isConnected(now, true)) this.#assignedAt = now;
  }

  isConnected(now: DurationMs, isIdle: boolean): boolean {
    if (isIdle) return now - this.#heartbeatAt < (this.#timeoutMs * 2) / 3;
    return now - Math.max(this.#heartbeatAt, this.#assignedAt) < this.#timeoutMs / 3;
  }
}
