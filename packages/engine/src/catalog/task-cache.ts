import type { KnownTask, TaskDefaults, TaskStore } from "@carillon/store";

/** As in the book of queues: a change with a lower revision may become visible a moment after one with a higher. */
const lookBack = 100;
/** One that comes later still: now and then all are looked at. */
const looksUntilAll = 60;

/** What workers say about runs of their tasks, as this node knows it. Stale for a moment after a change elsewhere. */
export class TaskBook {
  readonly #store: TaskStore;
  readonly #known = new Map<string, Map<string, KnownTask>>();
  #highest = 0;
  #looks = 0;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  /** Null: no worker said anything about it. */
  defaultsOf(namespace: string, task: string): TaskDefaults | null {
    return this.#known.get(namespace)?.get(task)?.defaults ?? null;
  }

  /** Notes what a worker says; answers what is other than before. */
  async register(
    namespaceIds: readonly number[],
    defaults: Readonly<Record<string, TaskDefaults>>,
  ): Promise<readonly KnownTask[]> {
    if (Object.keys(defaults).length === 0) return [];
    const changed = await this.#store.register(namespaceIds, defaults);
    this.#remember(changed);
    return changed;
  }

  /** Reads what changed, whoever changed it. */
  async look(): Promise<void> {
    const from = this.#looks++ % looksUntilAll === 0 ? 0 : this.#highest - lookBack;
    const rows = await this.#store.newer(Math.max(0, from));
    for (const { revision } of rows) this.#highest = Math.max(this.#highest, revision);
    this.#remember(rows);
  }

  #remember(rows: readonly KnownTask[]): void {
    for (const row of rows) {
      let tasks = this.#known.get(row.namespace);
      if (tasks === undefined) this.#known.set(row.namespace, (tasks = new Map<string, KnownTask>()));
      const before = tasks.get(row.name);
      if (before === undefined || before.revision < row.revision) tasks.set(row.name, row);
    }
  }
}
