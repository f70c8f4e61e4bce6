import { createHmac } from "node:crypto";
import { formatId, webhookTask } from "@carillon/core";
import type { RunView, WebhookDelivery } from "@carillon/engine";

const prefix = "whsec_";
export const secretBytes = 32;

/** A secret in the format of Standard Webhooks. */
export const secretOf = (bytes: Buffer): string => `${prefix}${bytes.toString("base64")}`;

export interface Signed {
  readonly id: string;
  /** Seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks, with one signature per secret: the receiver accepts any that it can verify. */
export function signedHeaders({ id, timestamp, body }: Signed, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
  };
}

/** The outcome of one attempt to deliver a message. `disabled`: the endpoint is disabled or was deleted. */
export type DeliveryOutcome = "delivered" | "failed" | "gone" | "disabled";

const statusErrorName = /^HttpStatus([1-9]\d\d)$/;

/** Names the error by its HTTP status, which the delivery log shows, and removes the stack of the server's own code. */
export function asStatusError<Thrown extends Error>(error: Thrown, status: number): Thrown {
  Object.defineProperty(error, "name", { value: `HttpStatus${status}` });
  Object.defineProperty(error, "stack", { value: undefined });
  return error;
}

/** The HTTP status in the name of an error; null: there was no response. */
export function statusOfError(name: string | undefined): number | null {
  const [, status] = statusErrorName.exec(name ?? "") ?? [];
  return status === undefined ? null : Number(status);
}

interface TaskOfJob {
  readonly jobId: string | null;
  readonly task: string;
}

/** The run of a delivery is stored under its endpoint, which is not a job. */
export function shownJobId({ jobId, task }: TaskOfJob): string | null {
  return jobId === null || task === webhookTask ? null : formatId("job", jobId);
}

/** The payload of a run; of a delivery, with the names and ids of the API. */
export function shownPayload({ task, payload }: Pick<RunView, "task" | "payload">): unknown {
  if (task !== webhookTask) return payload ?? null;
  const { endpointId, url, message } = payload as WebhookDelivery;
  return endpointId === null ? { url, message } : { endpoint_id: formatId("whk", endpointId), message };
}
