import { randomBytes } from "node:crypto";
import {
  type CallbackSecret,
  type Delivery,
  readWebhookCreate,
  readWebhookPatch,
  readWebhookRotate,
  type Webhook,
} from "@carillon/contract";
import { formatId, isFinal } from "@carillon/core";
import type { CallbackSecretView, Effect, RunView, WebhookDelivery, WebhookView } from "@carillon/engine";
import { secretBytes, secretOf, statusOfError } from "../events/webhook-delivery.js";
import { found } from "./http/errors.js";
import {
  type ApiOptions,
  type ApiResponse,
  contextOf,
  contextWithReceipt,
  createdResponse,
  handlers,
  ok,
  okWithVersion,
  type Replays,
  timestamp,
  timestampOrNull,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { idOrNotFound } from "./http/request.js";
import { toRunJson } from "./runs.js";

const webhookList = listOf("webhooks", toWebhookJson);
const deliveryList = listOf("deliveries", toDeliveryJson);

export function webhookHandlers(options: ApiOptions) {
  return { ...endpointHandlers(options), ...deliveryHandlers(options), ...secretHandlers(options) };
}

function endpointHandlers({ engine, refuseTarget }: ApiOptions) {
  return handlers({
    async createWebhook({ body, namespace, receipt }) {
      const secret = secretOf(randomBytes(secretBytes));
      return created(
        await engine.webhooks.create(namespace, readWebhookCreate(body, refuseTarget), secret, receipt),
        secret,
      );
    },
    listWebhooks: ({ query, namespace }) =>
      webhookList(query, [namespace], (page) => engine.webhooks.list(namespace, page)),
    async getWebhook({ params, namespace }) {
      const webhook = await engine.webhooks.get(namespace, idOf(params));
      return shown(found(webhook, `There is no webhook endpoint ${params.id}.`));
    },
    async updateWebhook(call) {
      const change = readWebhookPatch(call.body, refuseTarget);
      return shown(await engine.webhooks.change(call.namespace, idOf(call.params), change, contextOf(call)));
    },
    async deleteWebhook({ params, namespace }) {
      await engine.webhooks.delete(namespace, idOf(params));
      return { status: 204 };
    },
    async rotateWebhookSecret(call) {
      const { overlapMs } = readWebhookRotate(call.body);
      const secret = secretOf(randomBytes(secretBytes));
      const made = { secret, overlapMs };
      const { namespace, params } = call;
      return withSecret(
        await engine.webhooks.rotateSecret(namespace, idOf(params), made, contextWithReceipt(call)),
        secret,
      );
    },
  });
}

function deliveryHandlers({ engine }: ApiOptions) {
  return handlers({
    async testWebhook({ params, namespace, receipt }) {
      return sent(await engine.webhooks.test(namespace, idOf(params), receipt));
    },
    listDeliveries({ params, query, namespace }) {
      const id = idOf(params);
      return deliveryList(query, [namespace, id], (page) => engine.webhooks.deliveries(namespace, id, page));
    },
    async getDelivery({ params, namespace }) {
      const run = await engine.webhooks.getDelivery(namespace, idOf(params), idOrNotFound("run", params.delivery));
      return ok(toDeliveryJson(run));
    },
    async redeliver({ params, namespace, receipt }) {
      const runId = idOrNotFound("run", params.delivery);
      return sent(await engine.webhooks.redeliver(namespace, idOf(params), runId, receipt));
    },
  });
}

function secretHandlers({ engine }: ApiOptions) {
  return handlers({
    async getCallbackSecret({ namespace }) {
      const secret = await engine.callbackSecrets.get(namespace);
      const detail = "The namespace has no secret for callbacks yet; the first callback creates one.";
      return ok(toCallbackSecretJson(found(secret, detail)));
    },
    async rotateCallbackSecret(call) {
      const { overlapMs } = readWebhookRotate(call.body);
      const secret = secretOf(randomBytes(secretBytes));
      const made = await engine.callbackSecrets.rotate(call.namespace, { secret, overlapMs }, contextWithReceipt(call));
      return ok({ ...toCallbackSecretJson(made), secret });
    },
  });
}

/** The responses to repeated calls whose first response was not stored. */
export function webhookReplays({ engine }: ApiOptions): Replays {
  const endpoint = async ({ secret }: Effect, namespace: string): Promise<WebhookView> => {
    const id = secret?.webhookId ?? "";
    return found(await engine.webhooks.get(namespace, id), `The endpoint ${formatId("whk", id)} no longer exists.`);
  };
  const delivery = async ({ runs = [] }: Effect, namespace: string): Promise<ApiResponse> => {
    const id = runs[0]?.id ?? "";
    return sent(found(await engine.runs.get(namespace, id), `The run ${formatId("run", id)} no longer exists.`));
  };
  return {
    createWebhook: async (effect, { namespace }) =>
      created(await endpoint(effect, namespace), effect.secret?.value ?? ""),
    rotateWebhookSecret: async (effect, { namespace }) =>
      withSecret(await endpoint(effect, namespace), effect.secret?.value ?? ""),
    testWebhook: (effect, { namespace }) => delivery(effect, namespace),
    redeliver: (effect, { namespace }) => delivery(effect, namespace),
    async rotateCallbackSecret({ secret }, { namespace }) {
      const made = found(await engine.callbackSecrets.get(namespace), "The namespace has no secret for callbacks.");
      return ok({ ...toCallbackSecretJson(made), secret: secret?.value });
    },
  };
}

const withSecret = (webhook: WebhookView, secret: string): ApiResponse =>
  okWithVersion({ ...toWebhookJson(webhook), secret });

const created = (webhook: WebhookView, secret: string): ApiResponse =>
  createdResponse(`/v1/webhooks/${formatId("whk", webhook.id)}`, withSecret(webhook, secret));

const sent = (run: RunView): ApiResponse => ({ status: 202, body: toDeliveryJson(run) });

const idOf = ({ id }: { readonly id: string }): string => idOrNotFound("whk", id);

const shown = (webhook: WebhookView): ApiResponse => okWithVersion(toWebhookJson(webhook));

function toWebhookJson(webhook: WebhookView): Webhook {
  return {
    id: formatId("whk", webhook.id),
    url: webhook.url,
    on: [...webhook.on],
    tasks: webhook.tasks && [...webhook.tasks],
    queues: webhook.queues && [...webhook.queues],
    include: [...webhook.include],
    description: webhook.description,
    enabled: webhook.isEnabled,
    disabled_reason: webhook.disabledReason,
    failing_since: timestampOrNull(webhook.failingSince),
    old_secret_until: timestampOrNull(webhook.oldSecretUntil),
    version: webhook.version,
    created_at: timestamp(webhook.createdAt),
    updated_at: timestamp(webhook.updatedAt),
  };
}

function toCallbackSecretJson({ madeAt, oldSecretUntil }: CallbackSecretView): CallbackSecret {
  return { made_at: timestamp(madeAt), old_secret_until: timestampOrNull(oldSecretUntil) };
}

/** The run that sends a message, with the fields that the owner of the endpoint needs. */
function toDeliveryJson(run: RunView): Delivery {
  const { message } = run.payload as WebhookDelivery;
  const { error: last, attempts } = toRunJson(run);
  const error = withoutStack(
    isFinal(run.status) ? last : (attempts.findLast((one) => one.error !== null)?.error ?? null),
  );
  return {
    id: formatId("run", run.id),
    message_id: message.id,
    type: message.type,
    run_id: run.trigger.id === null ? null : formatId("run", run.trigger.id),
    status: run.status,
    attempt: run.attempt,
    next_attempt_at: run.status === "retrying" ? timestamp(run.runAt) : null,
    created_at: timestamp(run.createdAt),
    finished_at: timestampOrNull(run.finishedAt),
    response_status: responseStatus(run.output) ?? statusOfError(error?.type),
    error,
  };
}

/** The stack is the server's own code, which does not help the owner of the endpoint. */
function withoutStack(error: Delivery["error"]): Delivery["error"] {
  if (error === null) return null;
  const { stack: _, ...rest } = error;
  return rest;
}

function responseStatus(output: unknown): number | null {
  if (typeof output !== "object" || output === null || !("status" in output)) return null;
  return typeof output.status === "number" ? output.status : null;
}
