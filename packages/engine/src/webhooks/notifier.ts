import { type Callback, type DurationMs, type RunStatus, webhookQueue, webhookTask } from "@carillon/core";
import type { WebhookDelivery } from "./webhooks.js";
import type { Queryable, RunNotice, RunReads, RunRow, WebhookStore, WebhookWish } from "@carillon/store";
import type { SystemRun, SystemRuns } from "./system-runs.js";
import { runMessage } from "./message.js";

export interface NotifierOptions {
  readonly webhooks: Pick<WebhookStore, "takeNotices" | "enabled">;
  readonly readsOver: (tx: Queryable) => Pick<RunReads, "finished">;
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly runs: SystemRuns;
  readonly newId: () => string;
  readonly batch: number;
}

const idleMs: DurationMs = 1_000;
/** Clocks of history: a run ends in its own transaction, a moment before or after its notice. */
const slackMs: DurationMs = 86_400_000;

/**
 * Makes the deliveries that the ends of runs ask for. A notice goes in the transaction that stores its deliveries: each end is told
 * once, whoever dies meanwhile. Safe on every node at once: each takes what nobody else holds.
 */
export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** One bounded pass; answers after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { transaction, batch, runs } = this.#options;
    const { taken, made } = await transaction(async (tx) => {
      const notices = await this.#options.webhooks.takeNotices(tx, batch);
      if (notices.length === 0) return { taken: 0, made: [] };
      return { taken: notices.length, made: await runs.insert(tx, await this.#deliveries(tx, notices)) };
    });
    runs.announce(made);
    return taken >= batch ? 0 : idleMs;
  }

  async #deliveries(tx: Queryable, notices: readonly RunNotice[]): Promise<SystemRun[]> {
    const byNamespace = grouped(notices);
    const wishes = await this.#options.webhooks.enabled(tx, [...byNamespace.keys()]);
    const made: SystemRun[] = [];
    for (const [namespaceId, ended] of byNamespace) {
      const since = Math.min(...ended.map((one) => one.endedAt)) - slackMs;
      const ids = ended.map((one) => one.runId);
      const wanted = wishes.filter((wish) => wish.namespaceId === namespaceId);
      for (const run of await this.#options.readsOver(tx).finished(namespaceId, ids, since)) {
        made.push(...this.#ofWebhooks(namespaceId, run, wanted), ...this.#ofCallbacks(namespaceId, run));
      }
    }
    return made;
  }

  #ofWebhooks(namespaceId: number, run: RunRow, wishes: readonly WebhookWish[]): SystemRun[] {
    return wishes
      .filter((wish) => isWanted(wish, run))
      .map((wish) => {
        const id = this.#options.newId();
        const payload: WebhookDelivery = { endpointId: wish.id, url: null, message: runMessage(id, run, wish.include) };
        return { id, namespaceId, endpointId: wish.id, about: run.id, task: webhookTask, queue: webhookQueue, payload };
      });
  }

  #ofCallbacks(namespaceId: number, run: RunRow): SystemRun[] {
    const callbacks = run.policy?.callbacks ?? [];
    return callbacks
      .filter(({ on }) => includes(on, run.status))
      .map((callback) => {
        const id = this.#options.newId();
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
