import { CarillonError, type DurationMs, pending } from "@carillon/core";
import { classifyPgError, type PgErrorClass } from "./errors.js";

export interface CoalescerOptions<In, Out> {
  /** Writes a batch in one round trip, all or nothing; returns the results in its order. `isAlone`: no other write is in progress. */
  readonly write: (batch: readonly In[], isAlone: boolean) => Promise<readonly Out[]>;
  readonly maxBatch: number;
  /** Items that may wait during a write; one more is refused as overloaded. */
  readonly maxQueued: number;
  /** Writes at the same time. 1 by default. */
  readonly maxInFlight?: number;
  /** Items that waited longer are refused as overloaded instead of being written; absent: they wait without a limit. */
  readonly queueTimeout?: { readonly ms: DurationMs; readonly monotonic: () => DurationMs };
  /**
   * Calls back when the work of this turn of the event loop is done; absent: at once. Callers that get their results together call again
   * together: the first of them should not be written alone.
   */
  readonly soon?: (work: () => void) => void;
}

/** Items of one caller, which gets their outcomes together. */
interface Waiting<In, Out> {
  readonly items: readonly In[];
  readonly since: DurationMs;
  readonly settle: (outcomes: readonly Outcome<Out>[]) => void;
}

/** Fewer items are not worth a second write during the first: they are written with the items that arrive until it ends. */
const minShare = 16;

export type Outcome<Out> = PromiseSettledResult<Out>;

/**
 * Turns concurrent single calls into few round trips and never waits for further calls: the first call is written at once,
 * and the calls that arrive during that write are written together after it. A batch that the database refuses is halved
 * until the faulty item is alone, so that the bad row of one caller never fails the row of another.
 */
export class Coalescer<In, Out> {
  readonly #options: CoalescerOptions<In, Out>;
  readonly #waiting: Waiting<In, Out>[] = [];
  #queued = 0;
  #inFlight = 0;
  #idle: (() => void)[] = [];
  #isSoon = false;

  constructor(options: CoalescerOptions<In, Out>) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queued;
  }

  add(item: In): Promise<Out> {
    const { promise, resolve, reject } = pending<Out>();
    this.#enter([item], ([outcome]) => {
      if (outcome?.status === "fulfilled") resolve(outcome.value);
      else reject(outcome?.reason);
    });
    this.#pumpSoon();
    return promise;
  }

  /** Writes items of one caller together, even if no write is in progress. Returns their outcomes in their order. */
  async addAll(items: readonly In[]): Promise<Outcome<Out>[]> {
    const { maxBatch } = this.#options;
    const parts: Promise<readonly Outcome<Out>[]>[] = [];
    for (let first = 0; first < items.length; first += maxBatch) {
      const part = items.slice(first, first + maxBatch);
      parts.push(new Promise((resolve) => this.#enter(part, resolve)));
    }
    this.#pumpSoon();
    return (await Promise.all(parts)).flat();
  }

  /** Resolves when no item waits and no write is in progress. */
  async drain(): Promise<void> {
    if (this.#inFlight > 0 || this.#queued > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #enter(items: readonly In[], settle: Waiting<In, Out>["settle"]): void {
    const { maxQueued } = this.#options;
    if (this.#queued >= maxQueued) {
      const reason = new CarillonError("overloaded", `${maxQueued} writes already wait for the database.`);
      settle(items.map(() => ({ status: "rejected", reason })));
      return;
    }
    this.#waiting.push({ items, since: this.#options.queueTimeout?.monotonic() ?? 0, settle });
    this.#queued += items.length;
  }

  #pumpSoon(): void {
    const { soon } = this.#options;
    if (soon === undefined) return this.#pump();
    if (this.#isSoon || this.#queued === 0) return;
    this.#isSoon = true;
    soon(() => {
      this.#isSoon = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { maxInFlight = 1 } = this.#options;
    this.#refuseStale();
    while (this.#queued > 0 && (this.#inFlight === 0 || (this.#inFlight < maxInFlight && this.#queued >= minShare))) {
      const batch = this.#takeBatch();
      this.#inFlight++;
      void this.#write(batch).finally(() => {
        this.#inFlight--;
        this.#pumpSoon();
        this.#resolveIdle();
      });
    }
    this.#resolveIdle();
  }

  #resolveIdle(): void {
    if (this.#inFlight === 0 && this.#queued === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** If every write takes long, items at the end of the queue would wait for minutes: their callers had better try again later. */
  #refuseStale(): void {
    const { queueTimeout } = this.#options;
    const [oldest] = this.#waiting;
    if (queueTimeout === undefined || oldest === undefined) return;
    const from = queueTimeout.monotonic() - queueTimeout.ms;
    if (oldest.since >= from) return;
    const first = this.#waiting.findIndex((one) => one.since >= from);
    for (const { items, settle } of this.#waiting.splice(0, first === -1 ? this.#waiting.length : first)) {
      this.#queued -= items.length;
      const reason = new CarillonError("overloaded", `The database did not take a write within ${queueTimeout.ms} ms.`);
      settle(items.map(() => ({ status: "rejected", reason })));
    }
  }

  /** The waiting items are divided among the writes that may start, so that they run concurrently. */
  #takeBatch(): Waiting<In, Out>[] {
    const { maxBatch, maxInFlight = 1 } = this.#options;
    const share = Math.max(minShare, Math.ceil(this.#queued / (maxInFlight - this.#inFlight)));
    const max = Math.min(maxBatch, share);
    let size = 0;
    let count = 0;
    for (const { items } of this.#waiting) {
      if (count > 0 && size + items.length > max) break;
      size += items.length;
      count++;
    }
    this.#queued -= size;
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting<In, Out>[]): Promise<void> {
    const [only] = batch;
    const items = batch.length === 1 && only !== undefined ? only.items : batch.flatMap((one) => one.items);
    const outcomes = await this.#outcomesOf(items);
    let first = 0;
    for (const one of batch) {
      const next = first + one.items.length;
      one.settle(batch.length === 1 ? outcomes : outcomes.slice(first, next));
      first = next;
    }
  }

  async #outcomesOf(items: readonly In[]): Promise<Outcome<Out>[]> {
    try {
      const outs = await this.#tryTwice(items);
      if (outs.length < items.length) {
        throw new TooFewResults(`a batch writer returned ${outs.length} results, too few for its batch`);
      }
      return fulfilledEach(outs);
    } catch (reason) {
      if (items.length === 1 || stopsEveryCall(reason)) return items.map(() => ({ status: "rejected", reason }));
      const half = Math.ceil(items.length / 2);
      const before = await this.#outcomesOf(items.slice(0, half));
      return [...before, ...(await this.#outcomesOf(items.slice(half)))];
    }
  }

  /** No row is at fault for a deadlock or a serialization failure: the same batch is sent again. */
  async #tryTwice(items: readonly In[]): Promise<readonly Out[]> {
    try {
      return await this.#options.write(items, this.#inFlight === 1);
    } catch (error) {
      if (classifyPgError(error) !== "serialization") throw error;
      return this.#options.write(items, false);
    }
  }
}

/** Most batches have the same result for all of their items. */
function fulfilledEach<Out>(outs: readonly Out[]): Outcome<Out>[] {
  let last: PromiseFulfilledResult<Out> | undefined;
  return outs.map((value) => (last?.value === value ? last : (last = { status: "fulfilled", value })));
}

/** A bug of the writer: the rows may be written, and a second write could double them. */
class TooFewResults extends Error {}

/** Failures that no row causes: halves of the batch would fail in the same way. */
const ofTheDatabase: ReadonlySet<PgErrorClass> = new Set<PgErrorClass>([
  "transient_connection",
  "read_only",
  "disk_full",
  "too_many_connections",
  "cancelled",
]);
const ofTheNode: ReadonlySet<string> = new Set([
  "database_unavailable",
  "outcome_unknown",
  "database_refused",
  "database_timeout",
  "overloaded",
  "shutting_down",
]);

function stopsEveryCall(error: unknown): boolean {
  if (error instanceof TooFewResults) return true;
  return (error instanceof CarillonError && ofTheNode.has(error.code)) || ofTheDatabase.has(classifyPgError(error));
}
