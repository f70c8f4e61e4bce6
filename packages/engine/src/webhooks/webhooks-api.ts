import { type Page, type PageRequest, toPage } from "../requests.js";
import { CarillonError, type DurationMs, formatId, type Instant, webhookQueue, webhookTask } from "@carillon/core";
import type { RunLister } from "../runs/run-lister.js";
import type { RunReader } from "../runs/run-reader.js";
import type { RunView } from "../runs/run-view.js";
import type { WebhookChange, WebhookDelivery, Webhooks } from "./webhooks.js";
import type { InNamespace } from "../context.js";
import type { CallbackSecrets, Queryable, WebhookState, WebhookStore, WebhookView } from "@carillon/store";
import { testMessage } from "./message.js";
import type { SystemRuns } from "./system-runs.js";

export interface WebhooksParts {
  readonly webhooks: WebhookStore;
  readonly secrets: CallbackSecrets;
  readonly runs: RunReader;
  readonly lister: RunLister;
  readonly systemRuns: SystemRuns;
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly within: InNamespace;
  readonly newId: () => string;
  readonly now: () => Instant;
  /** An endpoint that takes nothing for so long is disabled. */
  readonly mostFailingMs: DurationMs;
  readonly onChanged: () => Promise<void>;
}

/** Webhook endpoints as callers see them: names of namespaces in, views out. */
export function webhooksApi(parts: WebhooksParts): Webhooks {
  return { ...endpointCalls(parts), ...deliveryCalls(parts), ...secretCalls(parts), ...senderCalls(parts) };
}

type EndpointCalls = Pick<
  Webhooks,
  "createWebhook" | "getWebhook" | "listWebhooks" | "changeWebhook" | "rotateWebhookSecret" | "deleteWebhook"
>;

function endpointCalls({ webhooks, within, newId, onChanged }: WebhooksParts): EndpointCalls {
  const changed = async (id: string, webhook: WebhookView | null): Promise<WebhookView> => {
    if (webhook === null) throw unknown(id);
    await onChanged();
    return webhook;
  };
  return {
    createWebhook: (namespace, spec, secret) =>
      within(namespace, async (namespaceId) => {
        const id = newId();
        return changed(id, await webhooks.insert(namespaceId, id, spec, secret));
      }),
    getWebhook: (namespace, id) => within(namespace, (namespaceId) => webhooks.find(namespaceId, id)),
    listWebhooks: (namespace, { pageSize, after }) =>
      within(namespace, async (namespaceId) =>
        toPage(await webhooks.list(namespaceId, after ?? null, pageSize + 1), pageSize, (row) => row.id),
      ),
    changeWebhook: (namespace, id, change, { ifVersion }) =>
      within(namespace, async (namespaceId) => {
        const decide = (before: WebhookView): WebhookState => {
          if (ifVersion !== undefined && ifVersion !== before.version) throw otherVersion(before);
          return changedState(before, change);
        };
        return changed(id, await webhooks.change(namespaceId, id, decide));
      }),
    rotateWebhookSecret: (namespace, id, secret, overlapMs) =>
      within(namespace, async (namespaceId) => changed(id, await webhooks.rotate(namespaceId, id, secret, overlapMs))),
    deleteWebhook: (namespace, id) =>
      within(namespace, async (namespaceId) => {
        if (!(await webhooks.delete(namespaceId, id))) throw unknown(id);
        await onChanged();
      }),
  };
}

function changedState(before: WebhookView, change: WebhookChange): WebhookState {
  const { isEnabled = before.isEnabled } = change;
  const disabledReason = isEnabled ? null : before.isEnabled ? "by_user" : before.disabledReason;
  return { ...before, ...change, isEnabled, disabledReason };
}

type DeliveryCalls = Pick<Webhooks, "testWebhook" | "listDeliveries" | "getDelivery" | "redeliver">;

function deliveryCalls(parts: WebhooksParts): DeliveryCalls {
  const { webhooks, runs, lister, within, newId, now } = parts;
  const mustBe = async (namespaceId: number, id: string): Promise<void> => {
    if ((await webhooks.find(namespaceId, id)) === null) throw unknown(id);
  };
  const deliveryOf = async (namespaceId: number, id: string, runId: string): Promise<RunView> => {
    await mustBe(namespaceId, id);
    const run = await runs.find(namespaceId, runId);
    if (run === null || run.jobId !== id) throw unknownDelivery(id, runId);
    return run;
  };
  return {
    getDelivery: (namespace, id, runId) => within(namespace, (namespaceId) => deliveryOf(namespaceId, id, runId)),
    testWebhook: (namespace, id) =>
      within(namespace, async (namespaceId) => {
        await mustBe(namespaceId, id);
        const runId = newId();
        const delivery = { endpointId: id, url: null, message: testMessage(runId, id, now()) };
        return send(parts, { namespaceId, runId, about: null, delivery });
      }),
    listDeliveries: (namespace, id, page: PageRequest): Promise<Page<RunView>> =>
      within(namespace, async (namespaceId) => {
        await mustBe(namespaceId, id);
        return lister.list(namespaceId, { jobId: id }, page);
      }),
    redeliver: (namespace, id, runId) =>
      within(namespace, async (namespaceId) => {
        const run = await deliveryOf(namespaceId, id, runId);
        const delivery = run.payload as WebhookDelivery;
        return send(parts, { namespaceId, runId: newId(), about: run.trigger.id, delivery });
      }),
  };
}

interface Sending {
  readonly namespaceId: number;
  readonly runId: string;
  readonly about: string | null;
  readonly delivery: WebhookDelivery;
}

async function send({ systemRuns, transaction, runs }: WebhooksParts, sending: Sending): Promise<RunView> {
  const { namespaceId, runId: id, about, delivery } = sending;
  const { endpointId } = delivery;
  const made = { id, namespaceId, endpointId, about, task: webhookTask, queue: webhookQueue, payload: delivery };
  systemRuns.announce(await transaction((tx) => systemRuns.insert(tx, [made])));
  const run = await runs.find(namespaceId, id);
  if (run === null) throw new Error(`run ${id} was stored and cannot be found`);
  return run;
}

type SecretCalls = Pick<Webhooks, "getCallbackSecret" | "rotateCallbackSecret" | "callbackSecrets">;

function secretCalls({ secrets, within }: WebhooksParts): SecretCalls {
  return {
    getCallbackSecret: (namespace) => within(namespace, (id) => secrets.find(id)),
    rotateCallbackSecret: (namespace, secret, overlapMs) =>
      within(namespace, (id) => secrets.rotate(id, secret, overlapMs)),
    callbackSecrets: (namespace, fresh) => within(namespace, (id) => secrets.signing(id, fresh)),
  };
}

type SenderCalls = Pick<Webhooks, "webhookTarget" | "noteDelivery">;

function senderCalls({ webhooks, mostFailingMs, onChanged }: WebhooksParts): SenderCalls {
  return {
    webhookTarget: (id) => webhooks.target(id),
    async noteDelivery(id, outcome) {
      if (outcome === "delivered") {
        await webhooks.delivered(id);
        return true;
      }
      const isEnabled = await webhooks.failed(id, outcome === "gone", mostFailingMs);
      if (isEnabled === false) await onChanged();
      return isEnabled !== false;
    },
  };
}

function unknown(id: string): CarillonError {
  return new CarillonError("not_found", `There is no webhook endpoint ${formatId("whk", id)}.`);
}

function unknownDelivery(id: string, runId: string): CarillonError {
  const detail = `The endpoint ${formatId("whk", id)} has no delivery ${formatId("run", runId)}.`;
  return new CarillonError("not_found", detail);
}

function otherVersion({ id, version }: WebhookView): CarillonError {
  const detail = `The endpoint ${formatId("whk", id)} has version ${version} by now.`;
  return new CarillonError("precondition_failed", detail);
}
