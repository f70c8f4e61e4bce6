import type {
  CallbackSecretMade,
  Delivery,
  DeliveryList,
  PageQuery,
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookWithSecret,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, ChangeOptions, Transport } from "./transport.js";

export interface WebhookCalls {
  /** The secret is shown this once. */
  create(webhook: WebhookCreate, options?: CallOptions): Promise<WebhookWithSecret>;
  list(query?: PageQuery, options?: CallOptions): Promise<WebhookList>;
  get(id: string, options?: CallOptions): Promise<Webhook>;
  update(id: string, patch: WebhookPatch, options?: ChangeOptions): Promise<Webhook>;
  delete(id: string, options?: CallOptions): Promise<void>;
  rotateSecret(id: string, how?: WebhookRotate, options?: CallOptions): Promise<WebhookWithSecret>;
  /** Sends a message that says it is a test. */
  test(id: string, options?: CallOptions): Promise<Delivery>;
  deliveries(id: string, query?: PageQuery, options?: CallOptions): Promise<DeliveryList>;
  delivery(id: string, delivery: string, options?: CallOptions): Promise<Delivery>;
  redeliver(id: string, delivery: string, options?: CallOptions): Promise<Delivery>;
  /** A new secret for callbacks to addresses; shown this once. */
  rotateCallbackSecret(how?: WebhookRotate, options?: CallOptions): Promise<CallbackSecretMade>;
}

export function webhookCalls(call: Transport): WebhookCalls {
  const path = "/v1/webhooks";
  const at = (id: string): string => `${path}/${segment(id)}`;
  const secret = "/v1/callback-secret";
  return {
    rotateCallbackSecret: (how = {}, given = {}) =>
      call({ ...given, method: "POST", path: `${secret}:rotate`, body: how }),
    create: (webhook, given = {}) => call({ ...given, method: "POST", path, body: webhook }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    get: (id, given = {}) => call({ ...given, method: "GET", path: at(id) }),
    update: (id, patch, given = {}) => call({ ...given, method: "PATCH", path: at(id), body: patch }),
    delete: (id, given = {}) => call({ ...given, method: "DELETE", path: at(id) }),
    rotateSecret: (id, how = {}, given = {}) =>
      call({ ...given, method: "POST", path: `${at(id)}:rotateSecret`, body: how }),
    test: (id, given = {}) => call({ ...given, method: "POST", path: `${at(id)}:test` }),
    deliveries: (id, query = {}, given = {}) => call({ ...given, method: "GET", path: `${at(id)}/deliveries`, query }),
    delivery: (id, delivery, given = {}) =>
      call({ ...given, method: "GET", path: `${at(id)}/deliveries/${segment(delivery)}` }),
    redeliver: (id, delivery, given = {}) =>
      call({ ...given, method: "POST", path: `${at(id)}/deliveries/${segment(delivery)}:redeliver` }),
  };
}
