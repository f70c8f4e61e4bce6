import type { KnownTask, TaskDefaults, TaskStore, TaskView } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type Page, type PageRequest, toPage } from "../requests.js";

/** As with queues: a change with a lower revision may become visible a moment after one with a higher. */
const revisionsBack = 100;
/** For a change that becomes visible later still, one read in this many reads all tasks. */
const readsUntilAll = 60;

/** The defaults that workers registered with their tasks, as this node last read them. */
export class TaskCache {
  readonly #store: TaskStore;
  readonly #known = new Map<string, Map<string, KnownTask>>();
  #highest = 0;
  #reads = 0;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  /** null: no worker registered defaults for the task. */
  defaultsOf(namespace: string, task: string): TaskDefaults | null {
    return this.#known.get(namespace)?.get(task)?.defaults ?? null;
  }

  /** Stores the defaults of a worker's tasks; returns those that changed. */
  async register(
    namespaceIds: readonly number[],
    defaults: Readonly<Record<string, TaskDefaults>>,
  ): Promise<readonly KnownTask[]> {
    if (Object.keys(defaults).length === 0) return [];
    const changed = await this.#store.register(namespaceIds, defaults);
    this.#remember(changed);
    return changed;
  }

  async refresh(): Promise<void> {
    const from = this.#reads++ % readsUntilAll === 0 ? 0 : this.#highest - revisionsBack;
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

/** The tasks of a namespace: those that workers serve and those that jobs and runs name. */
export class Tasks {
  readonly #context: Pick<EngineContext, "store" | "inNamespace">;
  readonly #cache: Pick<TaskCache, "defaultsOf">;

  constructor(context: Pick<EngineContext, "store" | "inNamespace">, cache: Pick<TaskCache, "defaultsOf">) {
    this.#context = context;
    this.#cache = cache;
  }

  /** By name. */
  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<TaskView>> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.catalogue.tasks(id, { limit: pageSize + 1, ...(after !== undefined && { after }) });
      return toPage(rows, pageSize, (row) => row.name);
    });
  }

  get(namespace: string, name: string): Promise<TaskView | null> {
    const { store, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => (await store.catalogue.tasks(id, { limit: 1, only: name }))[0] ?? null);
  }

  /** The defaults that workers registered, as this node last read them. */
  defaultsOf(namespace: string, task: string): TaskDefaults | null {
    return this.#cache.defaultsOf(namespace, task);
  }
}
