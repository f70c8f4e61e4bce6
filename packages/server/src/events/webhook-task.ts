import { randomBytes } from "node:crypto";
import { type Instant, webhookTask } from "@carillon/core";
import type { CallbackSecrets, WebhookDelivery, WebhookTarget, Webhooks } from "@carillon/engine";
import { type HttpAnswer, NonRetryableError, RetryAfterError, type Task, type TaskContext } from "@carillon/worker";
import { type DeliveryOutcome, asStatusError, secretBytes, secretOf, signedHeaders } from "./webhook-delivery.js";

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
