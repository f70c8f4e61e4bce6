import type { DurationMs } from "@carillon/core";
import type { Store } from "@carillon/store";
import { LimitOwners } from "./limit-owner-cache.js";
import { NamespaceBook } from "./namespace-cache.js";
import { QueueBook } from "./queue-cache.js";
import { type RankRun, rankRunBy } from "./rank-run.js";
import { TaskBook } from "./task-cache.js";
import { TaskDurations } from "./task-durations.js";

type CatalogStore = Pick<Store, "namespaces" | "queues" | "tasks" | "knownLimitOwners">;

const sharePeriodMs: DurationMs = 60_000;

/** Namespaces, queues and tasks as this node caches them. A cache is stale for a moment after a change elsewhere: no safety rests on it. */
export class Catalog {
  readonly namespaces: NamespaceBook;
  readonly queues: QueueBook;
  readonly tasks: TaskBook;
  /** The queues and namespaces that have limits of their own. */
  readonly limitOwners: LimitOwners;
  readonly durations = new TaskDurations();
  /** The rank of a run by the order of its queue. */
  readonly rank: RankRun;

  readonly #store: CatalogStore;
  #sharedAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(store: CatalogStore) {
    this.#store = store;
    this.namespaces = new NamespaceBook(store.namespaces);
    this.queues = new QueueBook(store.queues);
    this.tasks = new TaskBook(store.tasks);
    this.limitOwners = new LimitOwners(store.knownLimitOwners);
    this.rank = rankRunBy({
      orderOf: (namespaceId, queue) => this.queues.orderOf(namespaceId, queue),
      expectedMs: (namespaceId, queue, task) => this.durations.expectedMs(namespaceId, queue, task),
    });
  }

  /** Every minute, writes the durations that this node measured and reads those of all nodes. */
  async shareDurations(monotonicMs: DurationMs): Promise<void> {
    if (monotonicMs - this.#sharedAt < sharePeriodMs) return;
    this.#sharedAt = monotonicMs;
    const changed = this.durations.takeChanged();
    if (changed.length > 0) await this.#store.queues.learn(changed);
    this.durations.learn(await this.#store.queues.durations());
  }

  /** Reads what changed. */
  async refresh(): Promise<void> {
    await Promise.all([this.namespaces.look(), this.queues.look(), this.tasks.look(), this.limitOwners.look()]);
  }
}
