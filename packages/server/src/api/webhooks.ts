import { randomBytes } from "node:crypto";
import { readWebhookCreate, readWebhookPatch, readWebhookRotate } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { WebhookView } from "@carillon/engine";
import { secretBytes, secretOf } from "../events/webhook-delivery.js";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireCallbackSecret, wireDelivery, wireWebhook } from "./wire/webhook.js";
import { contextOf } from "./job-changes.js";
import { idOrNotFound, notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type EndpointHandlers = Pick<
  Handlers,
  "createWebhook" | "listWebhooks" | "getWebhook" | "updateWebhook" | "deleteWebhook" | "rotateWebhookSecret"
>;
type DeliveryHandlers = Pick<Handlers, "testWebhook" | "listDeliveries" | "getDelivery" | "redeliver">;

type SecretHandlers = Pick<Handlers, "getCallbackSecret" | "rotateCallbackSecret">;

export function webhookHandlers(options: ApiOptions): EndpointHandlers & DeliveryHandlers & SecretHandlers {
  return { ...endpointHandlers(options), ...deliveryHandlers(options), ...secretHandlers(options) };
}

function endpointHandlers({ engine, refuseTarget }: ApiOptions): EndpointHandlers {
  return {
    async createWebhook({ body, namespace }) {
      const secret = secretOf(randomBytes(secretBytes));
      const made = await engine.createWebhook(namespace, readWebhookCreate(body, refuseTarget), secret);
      const Location = `/v1/webhooks/${formatId("whk", made.id)}`;
      return { status: 201, body: { ...wireWebhook(made), secret }, headers: { ...etag(made), Location } };
    },
    async listWebhooks({ query, namespace }) {
      const list = ["webhooks", namespace];
      const page = await engine.listWebhooks(namespace, pageRequest(query, list));
      return {
        status: 200,
        body: { webhooks: page.rows.map(wireWebhook), next_page_token: nextPageToken(page, list) },
      };
    },
    async getWebhook({ params, namespace }) {
      const found = await engine.getWebhook(namespace, idOf(params));
      if (found === null) throw notFound(`There is no webhook endpoint ${params.id}.`);
      return shown(found);
    },
    async updateWebhook(call) {
      const change = readWebhookPatch(call.body, refuseTarget);
      return shown(await engine.changeWebhook(call.namespace, idOf(call.params), change, contextOf(call)));
    },
    async deleteWebhook({ params, namespace }) {
      await engine.deleteWebhook(namespace, idOf(params));
      return { status: 204 };
    },
    async rotateWebhookSecret({ params, body, namespace }) {
      const { overlapMs } = readWebhookRotate(body);
      const secret = secretOf(randomBytes(secretBytes));
      const changed = await engine.rotateWebhookSecret(namespace, idOf(params), secret, overlapMs);
      return { status: 200, body: { ...wireWebhook(changed), secret }, headers: etag(changed) };
    },
  };
}

function deliveryHandlers({ engine }: ApiOptions): DeliveryHandlers {
  return {
    async testWebhook({ params, namespace }) {
      return { status: 202, body: wireDelivery(await engine.testWebhook(namespace, idOf(params))) };
    },
    async listDeliveries({ params, query, namespace }) {
      const id = idOf(params);
      const list = ["deliveries", namespace, id];
      const page = await engine.listDeliveries(namespace, id, pageRequest(query, list));
      const deliveries = page.rows.map(wireDelivery);
      return { status: 200, body: { deliveries, next_page_token: nextPageToken(page, list) } };
    },
    async getDelivery({ params, namespace }) {
      const run = await engine.getDelivery(namespace, idOf(params), idOrNotFound("run", params.delivery));
      return { status: 200, body: wireDelivery(run) };
    },
    async redeliver({ params, namespace }) {
      const run = await engine.redeliver(namespace, idOf(params), idOrNotFound("run", params.delivery));
      return { status: 202, body: wireDelivery(run) };
    },
  };
}

function secretHandlers({ engine }: ApiOptions): SecretHandlers {
  return {
    async getCallbackSecret({ namespace }) {
      const found = await engine.getCallbackSecret(namespace);
      if (found === null) throw notFound("The namespace has no secret for callbacks yet.");
      return { status: 200, body: wireCallbackSecret(found) };
    },
    async rotateCallbackSecret({ body, namespace }) {
      const { overlapMs } = readWebhookRotate(body);
      const secret = secretOf(randomBytes(secretBytes));
      const made = await engine.rotateCallbackSecret(namespace, secret, overlapMs);
      return { status: 200, body: { ...wireCallbackSecret(made), secret } };
    },
  };
}

const idOf = ({ id }: { readonly id: string }): string => idOrNotFound("whk", id);

const etag = ({ version }: WebhookView): { ETag: string } => ({ ETag: `"v${version}"` });

const shown = (webhook: WebhookView): CallAnswer => ({
  status: 200,
  body: wireWebhook(webhook),
  headers: etag(webhook),
});
