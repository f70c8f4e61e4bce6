import { CarillonError, type DurationMs } from "@carillon/core";
import type {
  CallbackSecretView,
  Page,
  RunView,
  WebhookChange,
  Webhooks,
  WebhookSpec,
  WebhookTarget,
  WebhookView,
} from "@carillon/engine";
import { FakeEngine as Base } from "./fake-calendars.js";

/** Endpoints in memory; nothing is sent. */
export class FakeEngine extends Base implements Webhooks {
  readonly webhooks: WebhookView[] = [];

  async createWebhook(_namespace: string, spec: WebhookSpec, _secret: string): Promise<WebhookView> {
    const at = this.now();
    const id = `01890000-0000-7000-8000-${String(this.webhooks.length + 1).padStart(12, "0")}`;
    const state = { isEnabled: true, disabledReason: null, failingSince: null, oldSecretUntil: null };
    const made: WebhookView = { id, ...spec, ...state, version: 1, createdAt: at, updatedAt: at };
    this.webhooks.unshift(made);
    return made;
  }

  async getWebhook(_namespace: string, id: string): Promise<WebhookView | null> {
    return this.webhooks.find((webhook) => webhook.id === id) ?? null;
  }

  async listWebhooks(): Promise<Page<WebhookView>> {
    return { rows: this.webhooks, next: null };
  }

  async changeWebhook(namespace: string, id: string, change: WebhookChange): Promise<WebhookView> {
    return { ...(await this.#found(namespace, id)), ...change };
  }

  async rotateWebhookSecret(
    namespace: string,
    id: string,
    _secret: string,
    overlapMs: DurationMs,
  ): Promise<WebhookView> {
    return { ...(await this.#found(namespace, id)), oldSecretUntil: this.now() + overlapMs };
  }

  async deleteWebhook(namespace: string, id: string): Promise<void> {
    this.webhooks.splice(this.webhooks.indexOf(await this.#found(namespace, id)), 1);
  }

  async testWebhook(namespace: string, id: string): Promise<RunView> {
    await this.#found(namespace, id);
    throw new CarillonError("overloaded", "nothing is sent here");
  }

  async listDeliveries(namespace: string, id: string): Promise<Page<RunView>> {
    await this.#found(namespace, id);
    return { rows: [], next: null };
  }

  async getDelivery(namespace: string, id: string): Promise<RunView> {
    return this.redeliver(namespace, id);
  }

  async redeliver(namespace: string, id: string): Promise<RunView> {
    await this.#found(namespace, id);
    throw new CarillonError("not_found", "there is no such delivery");
  }

  async webhookTarget(): Promise<WebhookTarget | null> {
    return null;
  }

  async getCallbackSecret(): Promise<CallbackSecretView | null> {
    return null;
  }

  async rotateCallbackSecret(_namespace: string, _secret: string, overlapMs: DurationMs): Promise<CallbackSecretView> {
    return { madeAt: this.now(), oldSecretUntil: overlapMs === 0 ? null : this.now() + overlapMs };
  }

  async callbackSecrets(_namespace: string, fresh: string): Promise<readonly string[]> {
    return [fresh];
  }

  async noteDelivery(): Promise<boolean> {
    return true;
  }

  async #found(namespace: string, id: string): Promise<WebhookView> {
    const webhook = await this.getWebhook(namespace, id);
    if (webhook === null) throw new CarillonError("not_found", "There is no such webhook endpoint.");
    return webhook;
  }
}
