import { Type } from "typebox";
import { PageQuery } from "../schema/job-history.js";
import {
  CallbackSecret,
  CallbackSecretMade,
  Delivery,
  DeliveryList,
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookWithSecret,
} from "../schema/webhook.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { tag: "Webhooks", permission: "webhooks:read", rateClass: "read", method: "GET" } as const;
const writes = { tag: "Webhooks", permission: "webhooks:write", rateClass: "write" } as const;
const id = Type.String({ examples: ["whk_01k9zq3v5e0r8t2b7n4m6x1c9d"] });
const params = Type.Object({ id });
const path = "/v1/webhooks/{id}";
const headers = { ETag: 'Its version, as in "v7"' };
const theWebhook = { description: "The endpoint as it is now", schema: Webhook, headers };
const findErrors = ["not_found", ...queryErrors, ...storeErrors] as const;

export const createWebhook = {
  ...writes,
  method: "POST",
  path: "/v1/webhooks",
  summary: "Tell an endpoint of the ends of runs",
  description:
    "Each end is posted as a CloudEvent in JSON, signed as Standard Webhooks says, by a run of a queue of its own: it is tried again " +
    "for about three days. An endpoint counts on all nodes a second after it was made.",
  body: WebhookCreate,
  answers: {
    201: {
      description: "Made",
      schema: WebhookWithSecret,
      headers: { ...headers, Location: "Where the endpoint is" },
    },
  },
  errors: [...bodyErrors, "address_refused", ...storeErrors],
} as const satisfies Operation;

export const listWebhooks = {
  ...reads,
  path: "/v1/webhooks",
  summary: "List webhook endpoints, newest first",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: WebhookList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getWebhook = {
  ...reads,
  path,
  summary: "Get a webhook endpoint",
  params,
  answers: { 200: theWebhook },
  errors: findErrors,
} as const satisfies Operation;

export const updateWebhook = {
  ...writes,
  method: "PATCH",
  path,
  summary: "Change a webhook endpoint",
  params,
  conditional: true,
  body: WebhookPatch,
  answers: { 200: theWebhook },
  errors: [...bodyErrors, "address_refused", "not_found", "precondition_failed", ...storeErrors],
} as const satisfies Operation;

export const deleteWebhook = {
  ...writes,
  method: "DELETE",
  path,
  summary: "Remove a webhook endpoint",
  description: "What is under way to it is given up.",
  params,
  answers: { 204: { description: "Removed" } },
  errors: findErrors,
} as const satisfies Operation;

export const rotateWebhookSecret = {
  ...writes,
  method: "POST",
  path: "/v1/webhooks/{id}:rotateSecret",
  aliases: [{ path: "/v1/webhooks/{id}/rotateSecret" }],
  summary: "Give a webhook endpoint a new secret",
  description: "For a time both sign what is sent, so that the endpoint can change over without losing anything.",
  params,
  body: WebhookRotate,
  bodyOptional: true,
  answers: { 200: { description: "With the new secret", schema: WebhookWithSecret, headers } },
  errors: [...bodyErrors, "duration_invalid", "not_found", ...storeErrors],
} as const satisfies Operation;

export const testWebhook = {
  ...writes,
  method: "POST",
  path: "/v1/webhooks/{id}:test",
  aliases: [{ path: "/v1/webhooks/{id}/test" }],
  summary: "Send a message that says it is a test",
  params,
  answers: { 202: { description: "The delivery", schema: Delivery } },
  errors: findErrors,
} as const satisfies Operation;

export const listDeliveries = {
  ...reads,
  path: "/v1/webhooks/{id}/deliveries",
  summary: "What was sent to a webhook endpoint, newest first",
  params,
  query: PageQuery,
  answers: { 200: { description: "One page", schema: DeliveryList } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

const delivery = Type.Object({ id, delivery: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const getDelivery = {
  ...reads,
  path: "/v1/webhooks/{id}/deliveries/{delivery}",
  summary: "Get what became of one message",
  params: delivery,
  answers: { 200: { description: "The delivery", schema: Delivery } },
  errors: findErrors,
} as const satisfies Operation;

export const redeliver = {
  ...writes,
  method: "POST",
  path: "/v1/webhooks/{id}/deliveries/{delivery}:redeliver",
  aliases: [{ path: "/v1/webhooks/{id}/deliveries/{delivery}/redeliver" }],
  summary: "Send a message again",
  description: "Under its own webhook-id, so that an endpoint that has it already can tell.",
  params: delivery,
  answers: { 202: { description: "The new delivery", schema: Delivery } },
  errors: findErrors,
} as const satisfies Operation;

export const getCallbackSecret = {
  ...reads,
  path: "/v1/callback-secret",
  summary: "Since when the namespace has its secret for callbacks",
  description: "404 while it has none: one is made when the first callback is sent to an address.",
  answers: { 200: { description: "When it was made", schema: CallbackSecret } },
  errors: findErrors,
} as const satisfies Operation;

export const rotateCallbackSecret = {
  ...writes,
  method: "POST",
  path: "/v1/callback-secret:rotate",
  aliases: [{ path: "/v1/callback-secret/rotate" }],
  summary: "Give the namespace a new secret for callbacks",
  description:
    "Callbacks to addresses are signed as Standard Webhooks says. For a time the secret before signs as well, so that receivers can " +
    "change over.",
  body: WebhookRotate,
  bodyOptional: true,
  answers: { 200: { description: "With the new secret", schema: CallbackSecretMade } },
  errors: [...bodyErrors, "duration_invalid", ...storeErrors],
} as const satisfies Operation;
