import { CarillonError, type DurationMs, formatId, isCallbackTrigger, webhookQueue, webhookTask } from "@carillon/core";
import type {
  CallbackSecretView,
  ClaimedRun,
  Effect,
  Queryable,
  WebhookSpec,
  WebhookTarget,
  WebhookView,
} from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import {
  type ChangeContext,
  type Page,
  type PageRequest,
  type Receipt,
  storeWithReceipt,
  toPage,
} from "../requests.js";
import type { RunLister } from "../runs/run-lister.js";
import type { RunReader, RunView } from "../runs/run-reader.js";
import { DeliveryRuns, type DeliveryRunsDeps } from "./delivery-runs.js";
import { testMessage, type WebhookDelivery } from "./message.js";
import { Notifier } from "./notifier.js";

/** Absent members stay as they are. */
export type WebhookChange = Partial<WebhookSpec> & { readonly isEnabled?: boolean };

export interface WebhooksDeps extends DeliveryRunsDeps {
  readonly runs: Pick<RunReader, "find">;
  readonly lister: Pick<RunLister, "list">;
}

/** Webhook endpoints of a namespace, and the runs that deliver messages to them. All methods throw not_found for an endpoint that does not exist. */
export class Webhooks {
  readonly deliveryRuns: DeliveryRuns;
  readonly #context: EngineContext;
  readonly #deps: WebhooksDeps;
  /** Namespaces with an endpoint for successes, as this node last read them: an endpoint created on another node counts a second later. */
  #watched: ReadonlySet<number> = new Set();

  constructor(context: EngineContext, deps: WebhooksDeps) {
    this.#context = context;
    this.#deps = deps;
    this.deliveryRuns = new DeliveryRuns(context, deps);
    const notifier = new Notifier(context, this.deliveryRuns);
    context.loops.register("webhooks", async () => {
      await this.refresh();
      return context.limits.fullScanIntervalMs;
    });
    context.loops.register("notifier", () => notifier.tick());
  }

  async refresh(): Promise<void> {
    const enabled = await this.#context.store.webhooks.enabled(this.#context.db, null);
    this.#watched = new Set(enabled.filter(({ on }) => on.includes("succeeded")).map(({ namespaceId }) => namespaceId));
  }

  /** Whether an endpoint or a callback wants the success of the run. Deliveries themselves are not delivered. */
  wantsSuccess({ namespaceId, policy: { callbacks }, trigger }: ClaimedRun): boolean {
    if (callbacks === undefined && !this.#watched.has(namespaceId)) return false;
    if (isCallbackTrigger(trigger)) return false;
    return this.#watched.has(namespaceId) || (callbacks?.some(({ on }) => on.includes("succeeded")) ?? false);
  }

  create(namespace: string, spec: WebhookSpec, secret: string, receipt?: Receipt): Promise<WebhookView> {
    const { db, store, inNamespace, newId } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const id = newId();
      const insert = (tx?: Queryable) => store.webhooks.insert(namespaceId, id, spec, secret, tx);
      return this.#changed(id, await storeWithReceipt(db, receipt, insert, () => shownSecret(id, secret)));
    });
  }

  get(namespace: string, id: string): Promise<WebhookView | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#context.store.webhooks.find(namespaceId, id));
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<WebhookView>> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const rows = await this.#context.store.webhooks.list(namespaceId, after ?? null, pageSize + 1);
      return toPage(rows, pageSize, (row) => row.id);
    });
  }

  /** Throws precondition_failed. */
  change(namespace: string, id: string, change: WebhookChange, { ifVersion }: ChangeContext): Promise<WebhookView> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const webhook = await this.#context.store.webhooks.change(namespaceId, id, (before) => {
        if (ifVersion !== undefined && ifVersion !== before.version) throw otherVersion(before);
        const { isEnabled = before.isEnabled } = change;
        const disabledReason = isEnabled ? null : before.isEnabled ? "by_user" : before.disabledReason;
        return { ...before, ...change, isEnabled, disabledReason };
      });
      return this.#changed(id, webhook);
    });
  }

  rotateSecret(
    namespace: string,
    id: string,
    { secret, overlapMs }: NewSecret,
    { receipt }: Pick<ChangeContext, "receipt">,
  ): Promise<WebhookView> {
    const { db, store, inNamespace } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const rotate = (tx?: Queryable) => store.webhooks.rotate(namespaceId, id, secret, overlapMs, tx);
      const effectOf = (webhook: WebhookView | null) => (webhook === null ? null : shownSecret(id, secret));
      return this.#changed(id, await storeWithReceipt(db, receipt, rotate, effectOf));
    });
  }

  delete(namespace: string, id: string): Promise<void> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      if (!(await this.#context.store.webhooks.delete(namespaceId, id))) throw notFound(id);
      await afterCommit(() => this.refresh());
    });
  }

  /** Sends a test message; returns the run that delivers it. */
  test(namespace: string, id: string, receipt?: Receipt): Promise<RunView> {
    const { newId, now, inNamespace } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      await this.#requireEndpoint(namespaceId, id);
      const runId = newId();
      const delivery = { endpointId: id, url: null, message: testMessage(runId, id, now()) };
      return this.#send({ namespaceId, runId, about: null, delivery, receipt });
    });
  }

  /** The runs that delivered messages to an endpoint, newest first. */
  deliveries(namespace: string, id: string, page: PageRequest): Promise<Page<RunView>> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      await this.#requireEndpoint(namespaceId, id);
      return this.#deps.lister.list(namespaceId, { jobId: id }, page);
    });
  }

  getDelivery(namespace: string, id: string, runId: string): Promise<RunView> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#delivery(namespaceId, id, runId));
  }

  /** Sends the message of a delivery again, under its own id; returns the run that delivers it. */
  redeliver(namespace: string, id: string, runId: string, receipt?: Receipt): Promise<RunView> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const run = await this.#delivery(namespaceId, id, runId);
      const delivery = run.payload as WebhookDelivery;
      return this.#send({ namespaceId, runId: this.#context.newId(), about: run.trigger.id, delivery, receipt });
    });
  }

  /** Where a delivery to an endpoint goes now; null: the endpoint was deleted. */
  target(id: string): Promise<WebhookTarget | null> {
    return this.#context.store.webhooks.target(id);
  }

  /** Records the outcome of a delivery; returns false if that disabled the endpoint. */
  async noteDelivery(id: string, outcome: "delivered" | "failed" | "gone"): Promise<boolean> {
    const { store, limits } = this.#context;
    if (outcome === "delivered") {
      await store.webhooks.delivered(id);
      return true;
    }
    const isEnabled = await store.webhooks.failed(id, outcome === "gone", limits.webhookFailingMs);
    if (isEnabled === false) await this.refresh();
    return isEnabled !== false;
  }

  async #changed(id: string, webhook: WebhookView | null): Promise<WebhookView> {
    if (webhook === null) throw notFound(id);
    await afterCommit(() => this.refresh());
    return webhook;
  }

  async #requireEndpoint(namespaceId: number, id: string): Promise<void> {
    if ((await this.#context.store.webhooks.find(namespaceId, id)) === null) throw notFound(id);
  }

  async #delivery(namespaceId: number, id: string, runId: string): Promise<RunView> {
    await this.#requireEndpoint(namespaceId, id);
    const run = await this.#deps.runs.find(namespaceId, runId);
    if (run === null || run.jobId !== id) throw deliveryNotFound(id, runId);
    return run;
  }

  async #send({ namespaceId, runId: id, about, delivery, receipt }: Message): Promise<RunView> {
    const { endpointId } = delivery;
    const made = { id, namespaceId, endpointId, about, task: webhookTask, queue: webhookQueue, payload: delivery };
    const queued = await this.#context.db.transaction(async (tx) => {
      await receipt?.keep(tx, { runs: [{ id, isNew: true }] });
      return this.deliveryRuns.insert(tx, [made]);
    });
    this.deliveryRuns.announce(queued);
    const run = await afterCommit(() => this.#deps.runs.find(namespaceId, id));
    if (run === null) throw new Error(`Run ${id} was stored and cannot be found.`);
    return run;
  }
}

interface Message {
  readonly namespaceId: number;
  readonly runId: string;
  readonly about: string | null;
  readonly delivery: WebhookDelivery;
  readonly receipt: Receipt | undefined;
}

export interface NewSecret {
  readonly secret: string;
  /** How long the replaced secret signs as well. */
  readonly overlapMs: DurationMs;
}

/** Only the answer to this call shows the secret. */
const shownSecret = (webhookId: string, value: string): Effect => ({ secret: { webhookId, value } });

function notFound(id: string): CarillonError {
  return new CarillonError("not_found", `There is no webhook endpoint ${formatId("whk", id)}.`);
}

function deliveryNotFound(id: string, runId: string): CarillonError {
  const detail = `The endpoint ${formatId("whk", id)} has no delivery ${formatId("run", runId)}.`;
  return new CarillonError("not_found", detail);
}

function otherVersion({ id, version }: WebhookView): CarillonError {
  const detail = `The endpoint ${formatId("whk", id)} has version ${version} by now.`;
  return new CarillonError("precondition_failed", detail);
}

/** The secrets that sign callbacks to URLs, one for each namespace. */
export class CallbackSecrets {
  readonly #context: Pick<EngineContext, "db" | "store" | "inNamespace">;

  constructor(context: Pick<EngineContext, "db" | "store" | "inNamespace">) {
    this.#context = context;
  }

  /** null: the namespace has none yet. */
  get(namespace: string): Promise<CallbackSecretView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.callbackSecrets.find(id));
  }

  rotate(
    namespace: string,
    { secret, overlapMs }: NewSecret,
    { receipt }: Pick<ChangeContext, "receipt">,
  ): Promise<CallbackSecretView> {
    const { db, store, inNamespace } = this.#context;
    return inNamespace(namespace, (id) => {
      const rotate = (tx?: Queryable) => store.callbackSecrets.rotate(id, secret, overlapMs, tx);
      return storeWithReceipt(db, receipt, rotate, () => ({ secret: { value: secret } }));
    });
  }

  /** The secrets that sign a callback now; `fresh` becomes the secret of a namespace that has none. */
  signing(namespace: string, fresh: string): Promise<readonly string[]> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.callbackSecrets.signing(id, fresh));
  }
}
