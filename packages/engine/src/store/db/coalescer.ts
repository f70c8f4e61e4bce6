import { CarillonError } from "@carillon/core";
import { classifyPgError, type PgErrorClass } from "./classify.js";

export interface CoalescerOptions<In, Out> {
  /** Writes a batch in one round trip, all or nothing, and answers in the batch's order. */
  readonly write: (batch: readonly In[]) => Promise<readonly Out[]>;
  readonly maxBatch: number;
  /** Items that may wait while a write is under way; one more is refused as overloaded. */
  readonly maxQueued: number;
  /** Writes under way at a time. 1 by default. */
  readonly maxInFlight?: number;
  /** Items of the same key that wait together are written once and share the answer. */
  readonly keyOf?: (item: In) => string | undefined;
}

interface Entry<In, Out> {
  readonly item: In;
  readonly key: string | undefined;
  readonly answer: Promise<Out>;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Turns concurrent single calls into few round trips without ever waiting for company: the first call is written at once,
 * and those that come while it is under way are written together after it. A batch that the database refuses is halved
 * until the item at fault stands alone, so that one caller's bad row never fails another's.
 */
export class Coalescer<In, Out> {
  readonly #options: CoalescerOptions<In, Out>;
  readonly #byKey = new Map<string, Entry<In, Out>>();
  #queue: Entry<In, Out>[] = [];
  #inFlight = 0;
  #idle: (() => void)[] = [];

  constructor(options: CoalescerOptions<In, Out>) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queue.length;
  }

  add(item: In): Promise<Out> {
    const answer = this.#enqueue(item);
    this.#pump();
    return answer;
  }

  /** Items that came together are written together, however little is under way. */
  addAll(items: readonly In[]): Promise<Out>[] {
    const answers = items.map((item) => this.#enqueue(item));
    this.#pump();
    return answers;
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.#inFlight > 0 || this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #enqueue(item: In): Promise<Out> {
    const key = this.#options.keyOf?.(item);
    const twin = key === undefined ? undefined : this.#byKey.get(key);
    if (twin !== undefined) return twin.answer;
    const { maxQueued } = this.#options;
    if (this.#queue.length >= maxQueued) {
      return Promise.reject(new CarillonError("overloaded", `${maxQueued} writes already wait for the database.`));
    }
    const entry = newEntry<In, Out>(item, key);
    if (key !== undefined) this.#byKey.set(key, entry);
    this.#queue.push(entry);
    return entry.answer;
  }

  #pump(): void {
    const { maxBatch, maxInFlight = 1 } = this.#options;
    while (this.#inFlight < maxInFlight && this.#queue.length > 0) {
      const batch = this.#queue.slice(0, maxBatch);
      this.#queue = this.#queue.slice(maxBatch);
      for (const { key } of batch) if (key !== undefined) this.#byKey.delete(key);
      this.#inFlight++;
      void this.#write(batch).finally(() => {
        this.#inFlight--;
        this.#pump();
        if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
      });
    }
  }

  async #write(batch: readonly Entry<In, Out>[]): Promise<void> {
    try {
      const outs = await this.#tryTwice(batch);
      batch.forEach((entry, index) => settle(entry, outs, index));
    } catch (error) {
      if (batch.length === 1 || stopsEveryCall(error)) {
        for (const entry of batch) entry.reject(error);
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await this.#write(batch.slice(0, half));
      await this.#write(batch.slice(half));
    }
  }

  /** A deadlock or a serialization failure is nobody's bad row: the same batch may simply go again. */
  async #tryTwice(batch: readonly Entry<In, Out>[]): Promise<readonly Out[]> {
    const items = batch.map(({ item }) => item);
    try {
      return await this.#options.write(items);
    } catch (error) {
      if (classifyPgError(error) !== "serialization") throw error;
      return this.#options.write(items);
    }
  }
}

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
  return (error instanceof CarillonError && ofTheNode.has(error.code)) || ofTheDatabase.has(classifyPgError(error));
}

function newEntry<In, Out>(item: In, key: string | undefined): Entry<In, Out> {
  let resolve: (out: Out) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const answer = new Promise<Out>((onOut, onError) => {
    resolve = onOut;
    reject = onError;
  });
  return { item, key, answer, resolve, reject };
}

function settle<In, Out>(entry: Entry<In, Out>, outs: readonly Out[], index: number): void {
  if (!(index in outs)) entry.reject(new Error(`a batch writer gave ${outs.length} answers, too few for its batch`));
  else entry.resolve(outs[index] as Out);
}
