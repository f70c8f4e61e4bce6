import type { DurationMs } from "@carillon/core";
import type { KnownOwners, LimitOwner } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { NamespaceCache } from "./namespaces.js";
import { QueueCache } from "./queues.js";
import { type RankRun, rankRunBy, TaskDurations } from "./rank-run.js";
import { TaskCache } from "./tasks.js";

type CatalogContext = {
  readonly store: Pick<EngineContext["store"], "namespaces" | "queues" | "tasks" | "knownLimitOwners">;
  readonly wakeups: Pick<EngineContext["wakeups"], "announce">;
};

const sharePeriodMs: DurationMs = 60_000;

/**
 * Namespaces, queues and tasks as this node caches them. A cache is stale for at most a second after a change on another node: no safety
 * rests on it.
 */
export class Catalog {
  readonly namespaces: NamespaceCache;
  readonly queues: QueueCache;
  readonly tasks: TaskCache;
  /** The queues and namespaces that have limits of their own. */
  readonly limitOwners: LimitOwnerCache;
  readonly durations = new TaskDurations();
  /** The rank of a run by the order of its queue. */
  readonly rank: RankRun;
  readonly #context: CatalogContext;
  #sharedAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(context: CatalogContext) {
    this.#context = context;
    const { store } = context;
    this.namespaces = new NamespaceCache(store.namespaces);
    this.queues = new QueueCache(store.queues);
    this.tasks = new TaskCache(store.tasks);
    this.limitOwners = new LimitOwnerCache(store.knownLimitOwners);
    this.rank = rankRunBy({
      orderOf: (namespaceId, queue) => this.queues.orderOf(namespaceId, queue),
      expectedMs: (namespaceId, queue, task) => this.durations.expectedMs(namespaceId, queue, task),
    });
  }

  /** Reads what changed since the last time. */
  async refresh(): Promise<void> {
    const caches = [this.namespaces, this.queues, this.tasks, this.limitOwners];
    await Promise.all(caches.map((cache) => cache.refresh()));
  }

  /** After a change is stored: this node reads it before the caller is answered, the others are notified. */
  async announceChange(): Promise<void> {
    await this.refresh();
    this.#context.wakeups.announce("queues");
  }

  /** Ends the pauses of queues whose time has come. */
  async resumeExpired(): Promise<void> {
    if ((await this.#context.store.queues.resumeExpired()) > 0) this.#context.wakeups.announce("queues");
  }

  /** Every minute, writes the durations that this node measured and reads those of all nodes. */
  async shareDurations(monotonicMs: DurationMs): Promise<void> {
    if (monotonicMs - this.#sharedAt < sharePeriodMs) return;
    this.#sharedAt = monotonicMs;
    const { queues } = this.#context.store;
    const changed = this.durations.takeChanged();
    if (changed.length > 0) await queues.learn(changed);
    this.durations.learn(await queues.durations());
  }
}

/**
 * The queues and namespaces that have limits of their own, as this node last read them. Every claim names the revision that it was planned
 * with: a claim with a stale copy takes nothing.
 */
export class LimitOwnerCache {
  readonly #read: () => Promise<KnownOwners>;
  readonly #listeners: (() => void)[] = [];
  #known: KnownOwners = { revision: -1, owners: [] };
  #keys = new Set<string>();

  constructor(read: () => Promise<KnownOwners>) {
    this.#read = read;
  }

  get revision(): number {
    return this.#known.revision;
  }

  get all(): readonly LimitOwner[] {
    return this.#known.owners;
  }

  /** Whether the queue or its namespace has limits. */
  isLimited(namespaceId: number, queue: string): boolean {
    if (this.#keys.size === 0) return false;
    return this.#keys.has(keyOf({ namespaceId, queue })) || this.#keys.has(keyOf({ namespaceId, queue: null }));
  }

  /** The listener is called when another revision was read, before a claim uses it. */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async refresh(): Promise<void> {
    const known = await this.#read();
    // Of two concurrent reads the earlier one may return last.
    if (known.revision <= this.#known.revision) return;
    this.#known = known;
    this.#keys = new Set(known.owners.map(keyOf));
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = ({ namespaceId, queue }: LimitOwner): string => `${namespaceId} ${queue ?? ""}`;
