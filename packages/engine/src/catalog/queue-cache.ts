import type { QueueOrder } from "@carillon/core";
import type { KnownQueue, QueueName, QueueStore } from "@carillon/store";

/**
 * Changes of queues are short transactions: one with a lower revision becomes visible at most a moment after one with
 * a higher. Looking this far back finds it.
 */
const lookBack = 100;
/** One that was made inside somebody's own transaction may come much later: now and then all are looked at. */
const looksUntilAll = 60;

/** The queues as this node knows them. Stale for a moment after a change elsewhere: no safety rests on it. */
export class QueueBook {
  readonly #store: Pick<QueueStore, "newer" | "ensure">;
  readonly #known = new Map<number, Map<string, KnownQueue>>();
  readonly #listeners: (() => void)[] = [];
  #highest = 0;
  #edition = 0;
  #looks = 0;

  constructor(store: Pick<QueueStore, "newer" | "ensure">) {
    this.#store = store;
  }

  /** null: the usual order, or a queue that is not known. */
  orderOf(namespaceId: number, name: string): QueueOrder | null {
    return this.#known.get(namespaceId)?.get(name)?.order ?? null;
  }

  isPaused(namespaceId: number, name: string): boolean {
    return this.#known.get(namespaceId)?.get(name)?.isPaused ?? false;
  }

  isKnown(namespaceId: number, name: string): boolean {
    return this.#known.get(namespaceId)?.has(name) ?? false;
  }

  /** Grows when a queue comes. */
  get edition(): number {
    return this.#edition;
  }

  /** The queues of each namespace, as far as they are known. */
  *inUse(): Generator<[namespaceId: number, queues: Iterable<string>]> {
    for (const [namespaceId, queues] of this.#known) yield [namespaceId, queues.keys()];
  }

  /** Called when queues were paused or resumed. */
  onPauses(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Makes the queues that do not exist. */
  async ensure(namespaceId: number, names: Iterable<string>): Promise<void> {
    const missing: QueueName[] = [];
    for (const name of new Set(names)) if (!this.isKnown(namespaceId, name)) missing.push({ namespaceId, name });
    // One that another transaction inserted after our snapshot is in neither half of the answer: ask once more.
    for (let round = 0; round < 2 && missing.some(({ name }) => !this.isKnown(namespaceId, name)); round++)
      this.#remember(await this.#store.ensure(missing));
  }

  /** Reads what changed, whoever changed it. */
  async look(): Promise<void> {
    const from = ++this.#looks % looksUntilAll === 0 ? 0 : this.#highest - lookBack;
    const rows = await this.#store.newer(Math.max(0, from));
    for (const { revision } of rows) this.#highest = Math.max(this.#highest, revision);
    this.#remember(rows);
  }

  #remember(rows: readonly KnownQueue[]): void {
    const changed = rows.filter((row) => {
      const before = this.#known.get(row.namespaceId)?.get(row.name);
      return before === undefined || before.revision < row.revision;
    });
    let isOther = false;
    for (const row of changed) {
      if (row.isPaused !== this.isPaused(row.namespaceId, row.name)) isOther = true;
      let queues = this.#known.get(row.namespaceId);
      if (queues === undefined) this.#known.set(row.namespaceId, (queues = new Map<string, KnownQueue>()));
      if (!queues.has(row.name)) this.#edition++;
      queues.set(row.name, row);
    }
    if (isOther) for (const listener of this.#listeners) listener();
  }
}
