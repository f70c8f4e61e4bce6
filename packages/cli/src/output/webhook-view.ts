import type { Delivery, Webhook } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

const stateOf = ({ enabled, disabled_reason: reason, failing_since: since }: Webhook): string => {
  if (!enabled) return reason === null ? "disabled" : `disabled (${reason})`;
  return since === null ? "enabled" : `failing since ${since}`;
};

export const webhookColumns: readonly Column<Webhook>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "URL", value: ({ url }) => url },
  { title: "ON", value: ({ on }) => on.join(",") },
  { title: "STATE", value: stateOf },
];

export const deliveryColumns: readonly Column<Delivery>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "TYPE", value: ({ type }) => type },
  { title: "RUN", value: (delivery) => delivery.run_id },
  { title: "STATUS", value: ({ status }) => status },
  { title: "TRIES", value: ({ attempt }) => attempt, align: "right" },
  { title: "ANSWER", value: (delivery) => delivery.response_status ?? delivery.error?.message ?? null },
];

/** One endpoint for people; the secret only where it is shown. */
export function renderWebhook(webhook: Webhook & { readonly secret?: string }): string {
  return renderFields([
    ["id", webhook.id],
    ["url", webhook.url],
    ["on", webhook.on.join(", ")],
    ["tasks", webhook.tasks?.join(", ") ?? null],
    ["queues", webhook.queues?.join(", ") ?? null],
    ["include", webhook.include.join(", ")],
    ["state", stateOf(webhook)],
    ...(webhook.secret === undefined ? [] : [["secret", webhook.secret] as const]),
  ]);
}

export function renderDelivery(delivery: Delivery): string {
  return renderFields([
    ["delivery", delivery.id],
    ["type", delivery.type],
    ["status", delivery.status],
    ["tries", delivery.attempt],
    ["answer", delivery.response_status],
    ["error", delivery.error === null ? null : delivery.error.message],
  ]);
}
