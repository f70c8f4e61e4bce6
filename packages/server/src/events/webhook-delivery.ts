import { createHmac, randomBytes } from "node:crypto";
import { formatId, type Instant, webhookTask } from "@carillon/core";
import type { CallbackSecrets, RunView, WebhookDelivery, Webhooks, WebhookTarget } from "@carillon/engine";
import { type HttpAnswer, NonRetryableError, RetryAfterError, type Task, type TaskContext } from "@carillon/worker";

const prefix = "whsec_";
export const secretBytes = 32;

/** A secret in the format of Standard Webhooks. */
export const secretOf = (bytes: Buffer): string => `${prefix}${bytes.toString("base64")}`;

interface Signed {
  readonly id: string;
  /** Seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks, with one signature per secret: the receiver accepts any that it can verify. */
function signedHeaders({ id, timestamp, body }: Signed, secrets: readonly string[]): Record<string, string> {
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
function asStatusError<Thrown extends Error>(error: Thrown, status: number): Thrown {
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

/** Posts to an address after checking that it is allowed. */
export type Post = (request: {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}) => Promise<HttpAnswer>;

export interface WebhookTaskOptions {
  readonly webhooks: Pick<Webhooks, "target" | "noteDelivery">;
  readonly callbackSecrets: Pick<CallbackSecrets, "signing">;
  /** The namespace of the messages: its secret signs callbacks. */
  readonly namespace: string;
  readonly post: Post;
  readonly now: () => Instant;
  readonly version: string;
  readonly onDelivery: (outcome: DeliveryOutcome) => void;
}

/** The part of an error response that is stored. */
const excerptLength = 500;
const maxRetryAfterMs = 3_600_000;

/** Sends one message. The type of a thrown error decides whether the delivery is retried. */
export function webhookSender(options: WebhookTaskOptions): Task {
  return {
    name: webhookTask,
    async run(payload, context) {
      const delivery = payload as WebhookDelivery;
      const target = await targetOf(options, delivery);
      const answer = await deliver(options, delivery, target, context);
      return { status: answer.status };
    },
  };
}

async function targetOf(
  { webhooks, callbackSecrets, namespace, onDelivery }: WebhookTaskOptions,
  delivery: WebhookDelivery,
): Promise<WebhookTarget> {
  if (delivery.endpointId === null) {
    const secrets = await callbackSecrets.signing(namespace, secretOf(randomBytes(secretBytes)));
    return { url: delivery.url ?? "", isEnabled: true, secrets };
  }
  const target = await webhooks.target(delivery.endpointId);
  const isTest = delivery.message.type === "webhook.test";
  if (target !== null && (target.isEnabled || isTest)) return target;
  onDelivery("disabled");
  throw new NonRetryableError(target === null ? "The endpoint was deleted." : "The endpoint is disabled.");
}

async function deliver(
  options: WebhookTaskOptions,
  { endpointId, message }: WebhookDelivery,
  { url, secrets }: WebhookTarget,
  { signal }: TaskContext,
): Promise<HttpAnswer> {
  const body = JSON.stringify(message);
  const timestamp = Math.floor(options.now() / 1_000);
  const headers = {
    "content-type": "application/cloudevents+json; charset=utf-8",
    "user-agent": `carillon/${options.version}`,
    ...signedHeaders({ id: message.id, timestamp, body }, secrets),
  };
  const note = async (outcome: "delivered" | "failed" | "gone"): Promise<void> => {
    options.onDelivery(outcome);
    if (endpointId !== null) await options.webhooks.noteDelivery(endpointId, outcome);
  };
  let answer: HttpAnswer;
  try {
    answer = await options.post({ url: new URL(url), headers, body, signal });
  } catch (error) {
    // A stop of this node is not a failure of the endpoint.
    if (!signal.aborted) await note("failed");
    throw error;
  }
  if (answer.status >= 200 && answer.status < 300) {
    await note("delivered");
    return answer;
  }
  await note(answer.status === 410 ? "gone" : "failed");
  throw refusal(answer);
}

function refusal(answer: HttpAnswer): Error {
  return asStatusError(refusalOf(answer), answer.status);
}

function refusalOf({ status, headers, body }: HttpAnswer): Error {
  const excerpt = body.subarray(0, excerptLength).toString("utf8").trim();
  const message = `The endpoint answered ${status}${excerpt === "" ? "." : `: ${excerpt}`}`;
  if (status === 410) return new NonRetryableError(message);
  const seconds = headers["retry-after"];
  if (seconds !== undefined && /^\d{1,6}$/.test(seconds)) {
    return new RetryAfterError(Math.min(Number(seconds) * 1_000, maxRetryAfterMs), message);
  }
  return new Error(message);
}
