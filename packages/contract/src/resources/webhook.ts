import type { DurationMs } from "@carillon/core";
import { type Static, Type } from "typebox";
import { callbackLimits, limits, namePattern, printablePattern } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  Count,
  DurationText,
  Flag,
  IdText,
  nullable,
  object,
  readDuration,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import { removableFields } from "../merge-patch.js";
import { bodyErrors, getErrors, type Operation, pageAnswer, singleAnswer, storeErrors, verb } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import {
  checkTarget,
  defaultParts,
  Include,
  momentsOf,
  On,
  type RefuseTarget,
  targetRules,
  TargetUrl,
} from "./end-callback.js";
import { RunError, RunStatus } from "./run.js";

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern }), {
    minItems: 1,
    maxItems: callbackLimits.names,
    description,
  });

const Description = Type.String({ maxLength: limits.reasonLength, pattern: printablePattern });

export const WebhookCreate = object(
  "WebhookCreate",
  {
    url: TargetUrl,
    on: Type.Optional(On),
    tasks: Type.Optional(Names("Only runs of these tasks")),
    queues: Type.Optional(Names("Only runs in these queues")),
    include: Type.Optional(Include),
    description: Type.Optional(Description),
  },
  {
    description: "By default the endpoint receives every end of every run",
    examples: [{ url: "https://example.com/hooks/carillon", on: ["failed"] }],
    "x-carillon-rules": targetRules,
  },
);
export type WebhookCreate = Static<typeof WebhookCreate>;

const { url: addressField, ...removables } = WebhookCreate.properties;

export const WebhookPatch = object(
  "WebhookPatch",
  {
    url: Type.Optional(addressField),
    ...removableFields(removables),
    enabled: Flag("Whether messages are sent to it"),
  },
  {
    description: "A merge patch: members that are left out stay, null removes a member",
    examples: [{ enabled: true }],
    "x-carillon-rules": targetRules,
  },
);
export type WebhookPatch = Static<typeof WebhookPatch>;

const rotationBounds = { minMs: 0, maxMs: callbackLimits.overlapMs };

export const WebhookRotate = object("WebhookRotate", {
  overlap: Type.Optional(
    DurationText("How long the previous secret signs as well; 24h by default.", "24h", rotationBounds),
  ),
});
export type WebhookRotate = Static<typeof WebhookRotate>;

const webhook = {
  id: Type.String({ examples: ["whk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  url: Type.String(),
  on: Type.Array(Type.String()),
  tasks: nullable(Type.Array(Type.String())),
  queues: nullable(Type.Array(Type.String())),
  include: Type.Array(Type.String()),
  description: nullable(Type.String()),
  enabled: Type.Boolean(),
  disabled_reason: nullable(
    stringEnum(["by_user", "gone", "failing"], {
      description: "gone: the endpoint answered 410. failing: it accepted no message for five days",
    }),
  ),
  failing_since: nullable(Timestamp),
  old_secret_until: nullable(Timestamp),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Webhook = object("Webhook", webhook);
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = object("WebhookWithSecret", {
  ...webhook,
  secret: Type.String({ description: "The secret that signs messages; it is shown only once", examples: ["whsec_…"] }),
});
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

const callbackSecret = { made_at: Timestamp, old_secret_until: nullable(Timestamp) };

export const CallbackSecret = object("CallbackSecret", callbackSecret, {
  description: "The secret that signs the callbacks of all jobs and runs of the namespace",
});
export type CallbackSecret = Static<typeof CallbackSecret>;

export const CallbackSecretMade = object("CallbackSecretMade", {
  ...callbackSecret,
  secret: WebhookWithSecret.properties.secret,
});
export type CallbackSecretMade = Static<typeof CallbackSecretMade>;

export const WebhookList = pageOf("WebhookList", { webhooks: Type.Array(Webhook) });
export type WebhookList = Static<typeof WebhookList>;

export const Delivery = object("Delivery", {
  id: Type.String({ description: "The run that sends the message", examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  message_id: Text("The id of the message, the same for every attempt and for a redelivery"),
  type: Type.String({ examples: ["run.failed"] }),
  run_id: nullable(Text("The run that the message is about")),
  status: RunStatus,
  attempt: Count("The number of the current or last attempt, from 1; 0 before the first"),
  next_attempt_at: nullable(Timestamp),
  created_at: Timestamp,
  finished_at: nullable(Timestamp),
  response_status: nullable(Type.Integer({ description: "The status with which the endpoint accepted the message" })),
  error: nullable(RunError),
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryList = pageOf("DeliveryList", { deliveries: Type.Array(Delivery) });
export type DeliveryList = Static<typeof DeliveryList>;

const reads = { tag: "Webhooks", permission: "webhooks:read", rateClass: "read", method: "GET" } as const;
const writes = { tag: "Webhooks", permission: "webhooks:write", rateClass: "write" } as const;
const id = IdText("whk");
const params = Type.Object({ id });
const path = "/v1/webhooks/{id}";
const headers = { ETag: 'Its version, as in "v7"' };
const theWebhook = { description: "The endpoint as it is now", schema: Webhook, headers };

export const createWebhook = {
  ...writes,
  method: "POST",
  path: "/v1/webhooks",
  client: "webhooks.create",
  summary: "Create a webhook endpoint",
  description:
    "The end of each run is posted to it as a CloudEvent in JSON, signed according to Standard Webhooks. A delivery is a " +
    "run in a queue of its own, and is retried for about three days. All nodes know a new endpoint after a second.",
  body: WebhookCreate,
  answers: {
    201: {
      description: "Created",
      schema: WebhookWithSecret,
      headers: { ...headers, Location: "The address of the endpoint" },
    },
  },
  errors: [...bodyErrors, "address_refused", ...storeErrors],
} as const satisfies Operation;

export const listWebhooks = {
  ...reads,
  path: "/v1/webhooks",
  client: "webhooks.list",
  summary: "List webhook endpoints, newest first",
  query: PageQuery,
  ...pageAnswer(WebhookList),
} as const satisfies Operation;

export const getWebhook = {
  ...reads,
  path,
  client: "webhooks.get",
  summary: "Get a webhook endpoint",
  params,
  answers: { 200: theWebhook },
  errors: getErrors,
} as const satisfies Operation;

export const updateWebhook = {
  ...writes,
  method: "PATCH",
  path,
  client: "webhooks.update",
  summary: "Change a webhook endpoint",
  description: "A patch that changes nothing makes no new version.",
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
  client: "webhooks.delete",
  summary: "Delete a webhook endpoint",
  description: "Deliveries in progress are dropped.",
  params,
  answers: { 204: { description: "Deleted" } },
  errors: getErrors,
} as const satisfies Operation;

export const rotateWebhookSecret = {
  ...writes,
  ...verb("/v1/webhooks/{id}:rotateSecret"),
  client: "webhooks.rotateSecret",
  summary: "Rotate the secret of a webhook endpoint",
  description:
    "For the time of overlap, messages are signed with both secrets, so that the endpoint can change over without losing " +
    "any.",
  params,
  body: WebhookRotate,
  bodyOptional: true,
  answers: { 200: { description: "The new secret", schema: WebhookWithSecret, headers } },
  errors: [...bodyErrors, "duration_invalid", "not_found", ...storeErrors],
} as const satisfies Operation;

export const testWebhook = {
  ...writes,
  ...verb("/v1/webhooks/{id}:test"),
  client: "webhooks.test",
  summary: "Send a test message",
  params,
  answers: { 202: { description: "The delivery", schema: Delivery } },
  errors: getErrors,
} as const satisfies Operation;

export const listDeliveries = {
  ...reads,
  path: "/v1/webhooks/{id}/deliveries",
  client: "webhooks.deliveries",
  summary: "List the deliveries of a webhook endpoint, newest first",
  params,
  query: PageQuery,
  ...pageAnswer(DeliveryList),
} as const satisfies Operation;

const delivery = Type.Object({ id, delivery: IdText("run") });

export const getDelivery = {
  ...reads,
  path: "/v1/webhooks/{id}/deliveries/{delivery}",
  client: "webhooks.delivery",
  summary: "Get a delivery",
  params: delivery,
  ...singleAnswer(Delivery, "The delivery"),
} as const satisfies Operation;

export const redeliver = {
  ...writes,
  ...verb("/v1/webhooks/{id}/deliveries/{delivery}:redeliver"),
  client: "webhooks.redeliver",
  summary: "Redeliver a message",
  description: "The message keeps its webhook-id, so that the endpoint can detect a duplicate.",
  params: delivery,
  answers: { 202: { description: "The new delivery", schema: Delivery } },
  errors: getErrors,
} as const satisfies Operation;

export const getCallbackSecret = {
  ...reads,
  path: "/v1/callback-secret",
  summary: "Get the callback secret of the namespace",
  description:
    "Returns when it was created, not the secret. 404 until the first callback is sent to an address, which creates the " +
    "secret.",
  ...singleAnswer(CallbackSecret, "When the secret was created"),
} as const satisfies Operation;

export const rotateCallbackSecret = {
  ...writes,
  ...verb("/v1/callback-secret:rotate"),
  client: "webhooks.rotateCallbackSecret",
  summary: "Rotate the callback secret of the namespace",
  description:
    "Callbacks to addresses are signed according to Standard Webhooks. For the time of overlap the previous secret signs as " +
    "well, so that receivers can change over.",
  body: WebhookRotate,
  bodyOptional: true,
  ...singleAnswer(CallbackSecretMade, "The new secret", [...bodyErrors, "duration_invalid", ...storeErrors]),
} as const satisfies Operation;

export function readWebhookCreate(body: unknown, refuse?: RefuseTarget) {
  return readBody(WebhookCreate, body, (given, findings) => {
    const { url = "", on, tasks = null, queues = null, include = defaultParts, description = null } = given;
    if (url !== "") checkTarget(url, "/url", findings, refuse);
    return { url, on: momentsOf(on), tasks, queues, include, description };
  });
}

export function readWebhookPatch(body: unknown, refuse?: RefuseTarget) {
  return readBody(WebhookPatch, body, ({ on, include, enabled, ...change }, findings) => {
    if (change.url !== undefined) checkTarget(change.url, "/url", findings, refuse);
    return {
      ...change,
      ...(on !== undefined && { on: momentsOf(on ?? undefined) }),
      ...(include !== undefined && { include: include ?? defaultParts }),
      ...(enabled !== undefined && { isEnabled: enabled }),
    };
  });
}

const defaultOverlapMs: DurationMs = 86_400_000;

export function readWebhookRotate(body: unknown): { readonly overlapMs: DurationMs } {
  return readBody(WebhookRotate, body, ({ overlap }, findings) => {
    return { overlapMs: readDuration(overlap, "/overlap", findings, rotationBounds) ?? defaultOverlapMs };
  });
}
