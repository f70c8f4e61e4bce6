import { Type, type Static } from "typebox";
import { Include, On, TargetUrl } from "./end-callback.js";
import { callbackLimits, limits, namePattern, printablePattern } from "./limits.js";
import { removable } from "./merge-patch.js";
import { NextPageToken } from "./paging.js";
import { RunError, RunStatus } from "./run.js";
import { Count, DurationText, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern }), {
    minItems: 1,
    maxItems: callbackLimits.names,
    description,
  });

const Description = Type.String({ maxLength: limits.reasonLength, pattern: printablePattern });

export const WebhookCreate = Type.Object(
  {
    url: Type.Optional(TargetUrl),
    on: Type.Optional(On),
    tasks: Type.Optional(Names("Only runs of these tasks")),
    queues: Type.Optional(Names("Only runs in these queues")),
    include: Type.Optional(Include),
    description: Type.Optional(Description),
  },
  {
    title: "WebhookCreate",
    additionalProperties: false,
    description: "url is required. Every end of every run when nothing else is said",
    examples: [{ url: "https://example.com/hooks/carillon", on: ["failed"] }],
  },
);

const field = WebhookCreate.properties;

export const WebhookPatch = Type.Object(
  {
    url: Type.Optional(Type.Unsafe<string>({ ...field.url })),
    on: Type.Optional(removable<Static<typeof On>>(field.on)),
    tasks: Type.Optional(removable<string[]>(field.tasks)),
    queues: Type.Optional(removable<string[]>(field.queues)),
    include: Type.Optional(removable<Static<typeof Include>>(field.include)),
    description: Type.Optional(removable<string>(field.description)),
    enabled: Type.Optional(Type.Boolean({ description: "Whether it is told of anything" })),
  },
  {
    title: "WebhookPatch",
    additionalProperties: false,
    description: "A merge patch: what is left out stays, null removes",
    examples: [{ enabled: true }],
  },
);

export const WebhookRotate = Type.Object(
  { overlap: Type.Optional(DurationText("How long the secret before signs as well; 24h by default.", "24h")) },
  { title: "WebhookRotate", additionalProperties: false },
);

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
      description: "gone: it answered 410. failing: it took nothing for five days",
    }),
  ),
  failing_since: nullable(Timestamp),
  old_secret_until: nullable(Timestamp),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Webhook = Type.Object(webhook, { title: "Webhook", additionalProperties: false });

export const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({ description: "Signs what is sent; shown this once", examples: ["whsec_…"] }),
  },
  { title: "WebhookWithSecret", additionalProperties: false },
);

const callbackSecret = { made_at: Timestamp, old_secret_until: nullable(Timestamp) };

export const CallbackSecret = Type.Object(callbackSecret, {
  title: "CallbackSecret",
  additionalProperties: false,
  description: "Signs callbacks to addresses, of all jobs and runs of the namespace",
});

export const CallbackSecretMade = Type.Object(
  { ...callbackSecret, secret: WebhookWithSecret.properties.secret },
  { title: "CallbackSecretMade", additionalProperties: false },
);

export const WebhookList = Type.Object(
  { webhooks: Type.Array(Webhook), next_page_token: NextPageToken },
  { title: "WebhookList", additionalProperties: false },
);

export const Delivery = Type.Object(
  {
    id: Type.String({ description: "The run that sends it", examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    message_id: Type.String({ description: "The same for every try, and when it is sent again" }),
    type: Type.String({ examples: ["run.failed"] }),
    run_id: nullable(Type.String({ description: "What it tells of" })),
    status: RunStatus,
    attempt: Count("The current or last try, from 1; 0 before the first"),
    next_attempt_at: nullable(Timestamp),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
    response_status: nullable(Type.Integer({ description: "What the endpoint answered when it took the message" })),
    error: nullable(RunError),
  },
  { title: "Delivery", additionalProperties: false },
);

export const DeliveryList = Type.Object(
  { deliveries: Type.Array(Delivery), next_page_token: NextPageToken },
  { title: "DeliveryList", additionalProperties: false },
);

export type WebhookCreate = Static<typeof WebhookCreate>;
export type WebhookPatch = Static<typeof WebhookPatch>;
export type WebhookRotate = Static<typeof WebhookRotate>;
export type Webhook = Static<typeof Webhook>;
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;
export type CallbackSecret = Static<typeof CallbackSecret>;
export type CallbackSecretMade = Static<typeof CallbackSecretMade>;
export type WebhookList = Static<typeof WebhookList>;
export type Delivery = Static<typeof Delivery>;
export type DeliveryList = Static<typeof DeliveryList>;
