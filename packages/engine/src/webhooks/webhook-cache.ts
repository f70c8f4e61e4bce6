import { isCallbackTrigger } from "@carillon/core";
import type { ClaimedRun, Queryable, WebhookStore } from "@carillon/store";

/** Which namespaces want to hear of successes, as this node knows it: an endpoint made elsewhere counts a second later. */
export class WebhookBook {
  readonly #db: Queryable;
  readonly #webhooks: Pick<WebhookStore, "enabled">;
  #watched: ReadonlySet<number> = new Set();

  constructor(db: Queryable, webhooks: Pick<WebhookStore, "enabled">) {
    this.#db = db;
    this.#webhooks = webhooks;
  }

  async look(): Promise<void> {
    const wishes = await this.#webhooks.enabled(this.#db, null);
    this.#watched = new Set(wishes.filter(({ on }) => on.includes("succeeded")).map(({ namespaceId }) => namespaceId));
  }

  /** Whether somebody is to be told that the run succeeded. Of runs that tell of others nobody is. */
  isToldOf({ namespaceId, policy: { callbacks }, trigger }: ClaimedRun): boolean {
    if (callbacks === undefined && !this.#watched.has(namespaceId)) return false;
    if (isCallbackTrigger(trigger)) return false;
    return this.#watched.has(namespaceId) || (callbacks?.some(({ on }) => on.includes("succeeded")) ?? false);
  }
}
