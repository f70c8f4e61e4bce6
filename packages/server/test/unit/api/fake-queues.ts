import { CarillonError, type QueueOrder } from "@carillon/core";
import type {
  ChangeContext,
  Page,
  PageRequest,
  QueueChange,
  QueuePauseSpec,
  Queues,
  QueueStats,
  QueueView,
} from "@carillon/engine";
import { pageOf } from "./fake-engine.js";
import { FakeNamespaces } from "./fake-namespaces.js";

/** Queues in memory: stored and shown, without any effect. */
export class FakeQueues extends FakeNamespaces implements Queues {
  readonly queues = new Map<string, QueueView>();

  async listQueues(_namespace: string, page: PageRequest): Promise<Page<QueueView>> {
    const rows = [...this.queues.values()].map((queue) => ({ ...queue, id: queue.name }));
    return pageOf(
      rows.sort((a, b) => (a.name < b.name ? -1 : 1)),
      page,
    );
  }

  async getQueue(_namespace: string, name: string): Promise<QueueView | null> {
    return this.queues.get(name) ?? null;
  }

  async changeQueue(_namespace: string, name: string, change: QueueChange, context: ChangeContext) {
    const before = this.queues.get(name);
    const { order: kind = before?.order.kind ?? "priority", boundMs } = change;
    if (before !== undefined && (kind === "strict") !== (before.order.kind === "strict"))
      throw new CarillonError("queue_order_fixed", "the order is fixed");
    const order: QueueOrder = typeof boundMs === "number" ? { kind, boundMs } : { kind };
    return this.#put(name, context, { order });
  }

  async pauseQueue(_namespace: string, name: string, asked: QueuePauseSpec, context: ChangeContext) {
    return this.#put(name, context, { pause: { ...asked, actor: context.actor, at: this.now() } });
  }

  async resumeQueue(_namespace: string, name: string, context: ChangeContext): Promise<QueueView> {
    return this.#put(name, context, { pause: null });
  }

  async queueStats(_namespace: string, name: string): Promise<QueueStats | null> {
    if (!this.queues.has(name)) return null;
    return {
      queued: 3,
      running: 1,
      oldestDueAt: this.now() - 5_000,
      waitMs: 5_000,
      workers: 2,
      slots: 8,
      isExact: true,
    };
  }

  async manyQueueStats(namespace: string, names: readonly string[]): Promise<Map<string, QueueStats>> {
    const stats = new Map<string, QueueStats>();
    for (const name of names) {
      const own = await this.queueStats(namespace, name);
      if (own !== null) stats.set(name, own);
    }
    return stats;
  }

  #put(name: string, { ifVersion }: ChangeContext, change: Partial<QueueView>): QueueView {
    this.failOnce();
    const at = this.now();
    const usual = {
      name,
      order: { kind: "priority" as const },
      pause: null,
      limits: null,
      version: 0,
      createdAt: at,
      updatedAt: at,
    };
    const before = this.queues.get(name);
    if (ifVersion !== undefined && ifVersion !== before?.version)
      throw new CarillonError("precondition_failed", "the queue has another version");
    const after = { ...(before ?? usual), ...change, version: (before?.version ?? 0) + 1 };
    this.queues.set(name, after);
    return after;
  }
}
