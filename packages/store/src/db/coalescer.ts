import { CarillonError, type DurationMs, pending } from "@carillon/core";
import { classifyPgError, type PgErrorClass } from "./errors.js";

export interface CoalescerOptions<In, Out> {
  /** Writes a batch in one round trip, all or nothing, and answers in the batch's order. Alone: nothing else is under way. */
  readonly write: (batch: readonly In[], isAlone: boolean) => Promise<readonly Out[]>;
  readonly maxBatch: number;
  /** Items that may wait while a write is under way; one more is refused as overloaded. */
  readonly maxQueued: number;
  /** Writes under way at a time. 1 by default. */
  readonly maxInFlight?: number;
  /** Items that waited longer are refused as overloaded instead of being written; left out: they wait as long as it takes. */
  readonly patience?: { readonly ms: DurationMs; readonly monotonic: () => DurationMs };
  /**
   * Calls back when this turn's work is done, at once when left out. Callers whose answers came together ask again together: the first of
   * them should not go alone.
   */
  readonly soon?: (work: () => void) => void;
}

/** Items of one caller, which are answered together. */
interface Waiting<In, Out> {
  readonly items: readonly In[];
  readonly since: DurationMs;
  readonly settle: (outcomes: readonly Outcome<Out>[]) => void;
}

/** So few are not worth a write beside one that is under way: they go together with those that come until it ends. */
const smallestShare = 16;

export type Outcome<Out> = PromiseSettledResult<Out>;

/**
 * Turns concurrent single calls into few round trips without ever waiting for company: the first call is written at once,
 * and those that come while it is under way are written together after it. A batch that the database refuses is halved
 * until the item at fault stands alone, so that one caller's bad row never fails another's.
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

  /** Items that came together are written together, however little is under way. Answers what became of each, in their order. */
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

  /** Resolves when nothing waits and nothing is under way. */
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
    this.#waiting.push({ items, since: this.#options.patience?.monotonic() ?? 0, settle });
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
    while (
      this.#queued > 0 &&
      (this.#inFlight === 0 || (this.#inFlight < maxInFlight && this.#queued >= smallestShare))
    ) {
      const batch = this.#takeBatch();
      this.#inFlight++;
      void this.#write(batch).finally(() => {
        this.#inFlight--;
        this.#pumpSoon();
        this.#tellIdle();
      });
    }
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#inFlight === 0 && this.#queued === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Where every write takes long, those at the end of the line would wait for minutes: they may better ask again. */
  #refuseStale(): void {
    const { patience } = this.#options;
    const [oldest] = this.#waiting;
    if (patience === undefined || oldest === undefined) return;
    const from = patience.monotonic() - patience.ms;
    if (oldest.since >= from) return;
    const first = this.#waiting.findIndex((one) => one.since >= from);
    for (const { items, settle } of this.#waiting.splice(0, first === -1 ? this.#waiting.length : first)) {
      this.#queued -= items.length;
      const reason = new CarillonError("overloaded", `The database did not take a write within ${patience.ms} ms.`);
      settle(items.map(() => ({ status: "rejected", reason })));
    }
  }

  /** What waits is dealt to the writes that may go, so that they go side by side. */
  #takeBatch(): Waiting<In, Out>[] {
    const { maxBatch, maxInFlight = 1 } = this.#options;
    const share = Math.max(smallestShare, Math.ceil(this.#queued / (maxInFlight - this.#inFlight)));
    const most = Math.min(maxBatch, share);
    let size = 0;
    let count = 0;
    for (const { items } of this.#waiting) {
      if (count > 0 && size + items.length > most) break;
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
        throw new TooFewAnswers(`a batch writer gave ${outs.length} answers, too few for its batch`);
      }
      return fulfilledEach(outs);
    } catch (reason) {
      if (items.length === 1 || stopsEveryCall(reason)) return items.map(() => ({ status: "rejected", reason }));
      const half = Math.ceil(items.length / 2);
      const before = await this.#outcomesOf(items.slice(0, half));
      return [...before, ...(await this.#outcomesOf(items.slice(half)))];
    }
  }

  /** A deadlock or a serialization failure is nobody's bad row: the same batch may simply go again. */
  async #tryTwice(items: readonly In[]): Promise<readonly Out[]> {
    try {
      return await this.#options.write(items, this.#inFlight === 1);
    } catch (error) {
      if (classifyPgError(error) !== "serialization") throw error;
      return this.#options.write(items, false);
    }
  }
}

/** Most batches have one answer for all of their items. */
function fulfilledEach<Out>(outs: readonly Out[]): Outcome<Out>[] {
  let last: PromiseFulfilledResult<Out> | undefined;
  return outs.map((value) => (last?.value === value ? last : (last = { status: "fulfilled", value })));
}

/** A fault of ours: the rows may be written, and writing them again could double them. */
class TooFewAnswers extends Error {}

/** Failures that have nothing to do with the rows: writing halves would only fail the same way, more often. */
const ofTheDatabase: ReadonlySet<PgErrorClass> = new Set<PgErrorClass>([
  "transient_connection",
  "read_only",
  "disk_full",
  "too_many_connections",
  "cancelled",
]);
const ofTheNode: ReadonlySet<string> = new Set([
  "database_unavailable",
  "database_refused",
  "database_timeout",
  "overloaded",
  "shutting_down",
]);

function stopsEveryCall(error: unknown): boolean {
  if (error instanceof TooFewAnswers) return true;
  return (error instanceof CarillonError && ofTheNode.has(error.code)) || ofTheDatabase.has(classifyPgError(error));
}
