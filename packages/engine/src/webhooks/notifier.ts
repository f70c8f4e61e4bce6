import { type Callback, type DurationMs, type RunStatus, webhookQueue, webhookTask } from "@carillon/core";
import type { Queryable, RunNotice, RunRow, WebhookWish } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { DeliveryRun, DeliveryRuns } from "./delivery-runs.js";
import { runMessage, type WebhookDelivery } from "./message.js";

const idleMs: DurationMs = 1_000;
/** The end in history and the notice of a run may differ by the skew of clocks. */
const slackMs: DurationMs = 86_400_000;

/**
 * Makes the deliveries about ended runs. A notice is deleted in the transaction that stores its deliveries: each end is delivered
 * once, although nodes die. Every node may do this concurrently: each takes notices that no other transaction holds.
 */
export class Notifier {
  readonly #context: EngineContext;
  readonly #runs: DeliveryRuns;

  constructor(context: EngineContext, runs: DeliveryRuns) {
    this.#context = context;
    this.#runs = runs;
  }

  /** One bounded pass; returns after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { db, store, limits } = this.#context;
    const runs = this.#runs;
    const { taken, made } = await db.transaction(async (tx) => {
      const notices = await store.webhooks.takeNotices(tx, limits.sweepBatch);
      if (notices.length === 0) return { taken: 0, made: [] };
      return { taken: notices.length, made: await runs.insert(tx, await this.#deliveries(tx, notices)) };
    });
    runs.announce(made);
    return taken >= limits.sweepBatch ? 0 : idleMs;
  }

  async #deliveries(tx: Queryable, notices: readonly RunNotice[]): Promise<DeliveryRun[]> {
    const byNamespace = grouped(notices);
    const wishes = await this.#context.store.webhooks.enabled(tx, [...byNamespace.keys()]);
    const made: DeliveryRun[] = [];
    for (const [namespaceId, ended] of byNamespace) {
      const since = Math.min(...ended.map((one) => one.endedAt)) - slackMs;
      const ids = ended.map((one) => one.runId);
      const wanted = wishes.filter((wish) => wish.namespaceId === namespaceId);
      for (const run of await this.#context.store.readsOver(tx).finished(namespaceId, ids, since)) {
        made.push(...this.#toWebhooks(namespaceId, run, wanted), ...this.#toCallbacks(namespaceId, run));
      }
    }
    return made;
  }

  #toWebhooks(namespaceId: number, run: RunRow, wishes: readonly WebhookWish[]): DeliveryRun[] {
    return wishes
      .filter((wish) => isWanted(wish, run))
      .map((wish) => {
        const id = this.#context.newId();
        const payload: WebhookDelivery = { endpointId: wish.id, url: null, message: runMessage(id, run, wish.include) };
        return { id, namespaceId, endpointId: wish.id, about: run.id, task: webhookTask, queue: webhookQueue, payload };
      });
  }

  #toCallbacks(namespaceId: number, run: RunRow): DeliveryRun[] {
    const callbacks = run.policy?.callbacks ?? [];
    return callbacks
      .filter(({ on }) => includes(on, run.status))
      .map((callback) => {
        const id = this.#context.newId();
        const message = runMessage(id, run, callback.include);
        const about = { id, namespaceId, endpointId: null, about: run.id };
        if (callback.task !== undefined) return { ...about, task: callback.task, queue: run.queue, payload: message };
        const payload: WebhookDelivery = { endpointId: null, url: callback.url ?? null, message };
        return { ...about, task: webhookTask, queue: webhookQueue, payload };
      });
  }
}

function isWanted({ on, tasks, queues }: WebhookWish, { status, task, queue }: RunRow): boolean {
  return includes(on, status) && (tasks?.includes(task) ?? true) && (queues?.includes(queue) ?? true);
}

const includes = (on: Callback["on"], status: RunStatus): boolean => (on as readonly string[]).includes(status);

function grouped(notices: readonly RunNotice[]): Map<number, RunNotice[]> {
  const groups = new Map<number, RunNotice[]>();
  for (const one of notices) groups.set(one.namespaceId, [...(groups.get(one.namespaceId) ?? []), one]);
  return groups;
}
