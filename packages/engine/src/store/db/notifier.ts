import type { OnDatabaseEvent } from "./events.js";
import type { Queryable } from "./queryable.js";

/** Hints that wait at most; beyond it the rest are dropped: polling finds what a hint would have told. */
const maxPending = 1_000;

const statement = { text: "select pg_notify(c, p) from unnest($1::text[], $2::text[]) as hint(c, p)" };

/** Sends hints: at once when none is being sent, otherwise all that gathered meanwhile in one statement, equal ones once. */
export class Notifier {
  readonly #target: Queryable;
  readonly #onEvent: OnDatabaseEvent;
  readonly #pending = new Map<string, readonly [channel: string, payload: string]>();
  #sending = false;

  constructor(target: Queryable, onEvent: OnDatabaseEvent) {
    this.#target = target;
    this.#onEvent = onEvent;
  }

  send(channel: string, payload: string): void {
    if (this.#pending.size >= maxPending) return;
    this.#pending.set(JSON.stringify([channel, payload]), [channel, payload]);
    if (!this.#sending) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#sending = true;
    while (this.#pending.size > 0) {
      const hints = [...this.#pending.values()];
      this.#pending.clear();
      try {
        await this.#target.query(statement, [hints.map(([channel]) => channel), hints.map(([, payload]) => payload)]);
      } catch (reason) {
        this.#onEvent({ type: "notify.failed", reason });
      }
    }
    this.#sending = false;
  }
}
