import { CarillonError, type DurationMs } from "@carillon/core";
import type { CallbackSecretView, Page, RunView, WebhookChange, WebhookSpec, WebhookView } from "@carillon/engine";
import { FakeComponent, type Port } from "./fake-state.js";

interface NewSecret {
  readonly overlapMs: DurationMs;
}

/** Endpoints in memory, without deliveries. */
export class FakeWebhooks extends FakeComponent implements Port<"webhooks"> {
  readonly #stored: WebhookView[] = [];

  async create(_namespace: string, spec: WebhookSpec, _secret: string): Promise<WebhookView> {
    const at = this.state.now();
    const id = `01890000-0000-7000-8000-${String(this.#stored.length + 1).padStart(12, "0")}`;
    const state = { isEnabled: true, disabledReason: null, failingSince: null, oldSecretUntil: null };
    const made: WebhookView = { id, ...spec, ...state, version: 1, createdAt: at, updatedAt: at };
    this.#stored.unshift(made);
    return made;
  }

  async get(_namespace: string, id: string): Promise<WebhookView | null> {
    return this.#stored.find((webhook) => webhook.id === id) ?? null;
  }

  async list(): Promise<Page<WebhookView>> {
    return { rows: this.#stored, next: null };
  }

  async change(_namespace: string, id: string, change: WebhookChange): Promise<WebhookView> {
    return { ...this.#require(id), ...change };
  }

  async rotateSecret(_namespace: string, id: string, { overlapMs }: NewSecret): Promise<WebhookView> {
    return { ...this.#require(id), oldSecretUntil: this.state.now() + overlapMs };
  }

  async delete(_namespace: string, id: string): Promise<void> {
    this.#stored.splice(this.#stored.indexOf(this.#require(id)), 1);
  }

  async test(_namespace: string, id: string): Promise<RunView> {
    this.#require(id);
    throw new CarillonError("overloaded", "nothing is sent here");
  }

  async deliveries(_namespace: string, id: string): Promise<Page<RunView>> {
    this.#require(id);
    return { rows: [], next: null };
  }

  async getDelivery(namespace: string, id: string): Promise<RunView> {
    return this.redeliver(namespace, id);
  }

  async redeliver(_namespace: string, id: string): Promise<RunView> {
    this.#require(id);
    throw new CarillonError("not_found", "there is no such delivery");
  }

  #require(id: string): WebhookView {
    const webhook = this.#stored.find((one) => one.id === id);
    if (webhook === undefined) throw new CarillonError("not_found", "There is no such webhook endpoint.");
    return webhook;
  }
}

export class FakeCallbackSecrets extends FakeComponent implements Port<"callbackSecrets"> {
  async get(): Promise<CallbackSecretView | null> {
    return null;
  }

  async rotate(_namespace: string, { overlapMs }: NewSecret): Promise<CallbackSecretView> {
    const now = this.state.now();
    return { madeAt: now, oldSecretUntil: overlapMs === 0 ? null : now + overlapMs };
  }
}
