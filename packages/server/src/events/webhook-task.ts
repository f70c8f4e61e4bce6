import { randomBytes } from "node:crypto";
import { type Instant, webhookTask } from "@carillon/core";
import type { WebhookDelivery, Webhooks, WebhookTarget } from "@carillon/engine";
import { type HttpAnswer, NonRetryableError, RetryAfterError, type Task, type TaskContext } from "@carillon/worker";
import type { DeliveryOutcome } from "./delivery-outcome.js";
import { secretBytes, secretOf, signedHeaders } from "./webhook-delivery.js";
import { asStatusError } from "./status-error.js";

/** Posts to an address that was checked to be one that may be reached. */
export type Post = (request: {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}) => Promise<HttpAnswer>;

export interface WebhookTaskOptions {
  readonly webhooks: Pick<Webhooks, "webhookTarget" | "noteDelivery" | "callbackSecrets">;
  /** Whose messages it sends: callbacks are signed by its secret. */
  readonly namespace: string;
  readonly post: Post;
  readonly now: () => Instant;
  readonly version: string;
  readonly onDelivery: (outcome: DeliveryOutcome) => void;
}

/** Of the answer so much is kept as tells what the other side thought. */
const excerptLength = 500;
const longestWaitMs = 3_600_000;

/** Sends one message. What it throws decides whether it is tried again. */
export function webhookSender(options: WebhookTaskOptions): Task {
  return {
    name: webhookTask,
    async run(payload, context) {
      const delivery = payload as WebhookDelivery;
      const target = await targetOf(options, delivery);
      const answer = await tried(options, delivery, target, context);
      return { status: answer.status };
    },
  };
}

async function targetOf(
  { webhooks, namespace, onDelivery }: WebhookTaskOptions,
  delivery: WebhookDelivery,
): Promise<WebhookTarget> {
  if (delivery.endpointId === null) {
    const secrets = await webhooks.callbackSecrets(namespace, secretOf(randomBytes(secretBytes)));
    return { url: delivery.url ?? "", isEnabled: true, secrets };
  }
  const target = await webhooks.webhookTarget(delivery.endpointId);
  const isTest = delivery.message.type === "webhook.test";
  if (target !== null && (target.isEnabled || isTest)) return target;
  onDelivery("disabled");
  throw new NonRetryableError(target === null ? "the endpoint was removed" : "the endpoint is disabled");
}

async function tried(
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
    // A node that stops says nothing of the endpoint.
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
  const message = `the endpoint answered ${status}${excerpt === "" ? "" : `: ${excerpt}`}`;
  if (status === 410) return new NonRetryableError(message);
  const seconds = headers["retry-after"];
  if (seconds !== undefined && /^\d{1,6}$/.test(seconds)) {
    return new RetryAfterError(Math.min(Number(seconds) * 1_000, longestWaitMs), message);
  }
  return new Error(message);
}
