import type { CallbackSecret, Delivery, Webhook } from "@carillon/contract";
import { formatId, isFinal } from "@carillon/core";
import type { CallbackSecretView, RunView, WebhookDelivery, WebhookView } from "@carillon/engine";
import { statusOfError } from "../../events/status-error.js";
import { wireRun } from "../run-wire.js";
import { timestamp, timestampOrNull } from "../timestamp.js";

export function wireWebhook(webhook: WebhookView): Webhook {
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

export function wireCallbackSecret({ madeAt, oldSecretUntil }: CallbackSecretView): CallbackSecret {
  return { made_at: timestamp(madeAt), old_secret_until: timestampOrNull(oldSecretUntil) };
}

/** The run that sends a message, as whoever looks after the endpoint sees it. */
export function wireDelivery(run: RunView): Delivery {
  const { message } = run.payload as WebhookDelivery;
  const { error: last, attempts } = wireRun(run);
  const error = withoutStack(isFinal(run.status) ? last : (attempts.at(-1)?.error ?? null));
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

/** It would be our own code's, which says nothing to whoever looks after an endpoint. */
function withoutStack(error: Delivery["error"]): Delivery["error"] {
  if (error === null) return null;
  const { stack: _, ...rest } = error;
  return rest;
}

function responseStatus(output: unknown): number | null {
  if (typeof output !== "object" || output === null || !("status" in output)) return null;
  return typeof output.status === "number" ? output.status : null;
}
