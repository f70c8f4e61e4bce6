import type { DurationMs } from "@carillon/core";
import type { RunView } from "../runs/run-view.js";
import type { WebhookSpec, WebhookView, WebhookTarget, CallbackSecretView } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

/** What a change says; absent members stay. */
export type WebhookChange = Partial<WebhookSpec> & { readonly isEnabled?: boolean };

/** The payload of a run that sends a message. */
export interface WebhookDelivery {
  /** null: the address is a callback's. */
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly message: WebhookMessage;
}

/** A CloudEvent in JSON. */
export interface WebhookMessage {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject?: string;
  readonly datacontenttype: "application/json";
  readonly data: unknown;
}

/** Endpoints of a namespace. All throw CarillonError: not_found where there is none. */
export interface Webhooks {
  createWebhook(namespace: string, spec: WebhookSpec, secret: string): Promise<WebhookView>;
  getWebhook(namespace: string, id: string): Promise<WebhookView | null>;
  listWebhooks(namespace: string, page: PageRequest): Promise<Page<WebhookView>>;
  /** Throws precondition_failed. */
  changeWebhook(namespace: string, id: string, change: WebhookChange, context: ChangeContext): Promise<WebhookView>;
  /** The secret before the new one signs for so long. */
  rotateWebhookSecret(namespace: string, id: string, secret: string, overlapMs: DurationMs): Promise<WebhookView>;
  deleteWebhook(namespace: string, id: string): Promise<void>;
  /** Sends a message that says it is a test; answers the run that does it. */
  testWebhook(namespace: string, id: string): Promise<RunView>;
  /** The runs that sent messages to it, newest first. */
  listDeliveries(namespace: string, id: string, page: PageRequest): Promise<Page<RunView>>;
  getDelivery(namespace: string, id: string, runId: string): Promise<RunView>;
  /** Sends the message of a delivery again, under its own id; answers the run that does it. */
  redeliver(namespace: string, id: string, runId: string): Promise<RunView>;
  /** Where a delivery to an endpoint goes now; null when it is gone. */
  webhookTarget(id: string): Promise<WebhookTarget | null>;
  /** null while the namespace has none. */
  getCallbackSecret(namespace: string): Promise<CallbackSecretView | null>;
  rotateCallbackSecret(namespace: string, secret: string, overlapMs: DurationMs): Promise<CallbackSecretView>;
  /** What signs a callback of the namespace; `fresh` becomes its secret where it has none. */
  callbackSecrets(namespace: string, fresh: string): Promise<readonly string[]>;
  /** What became of a delivery; answers false when the endpoint was disabled for it. */
  noteDelivery(id: string, outcome: "delivered" | "failed" | "gone"): Promise<boolean>;
}
