import type { OnDatabaseEvent } from "./events.js";
import type { Queryable } from "./queryable.js";

/** Hints that wait at most; beyond it the rest are dropped: polling finds what a hint would have told. */
const maxPending = 1_000;

/** A hint may be lost, so its commit need not wait for the disk: whoever listens hears it that much sooner. */
const statement = {
  prepared: "notifier_send",
  text:
    "with async as materialized (select set_config('synchronous_commit', 'off', true)) " +
    "select pg_notify(c, p) from async cross join unnest($1::text[], $2::text[]) as hint(c, p)",
};

/** What to tell; a function is asked when it is sent, so that what gathers until then is told together. */
export type Hint = string | (() => readonly string[]);

/** Sends hints: with this turn's work done when none is being sent, otherwise all that gathered meanwhile in one statement, equal ones once. */
export class Notifier {
  readonly #target: Queryable;
  readonly #onEvent: OnDatabaseEvent;
  readonly #soon: (work: () => void) => void;
  readonly #pending = new Map<Hint, readonly [channel: string, hint: Hint]>();
  #sending = false;

  constructor(target: Queryable, onEvent: OnDatabaseEvent, soon: (work: () => void) => void) {
    this.#target = target;
    this.#onEvent = onEvent;
    this.#soon = soon;
  }

  send(channel: string, hint: Hint): void {
    if (this.#pending.size >= maxPending) return;
    this.#pending.set(typeof hint === "string" ? JSON.stringify([channel, hint]) : hint, [channel, hint]);
    if (this.#sending) return;
    this.#sending = true;
    this.#soon(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    while (this.#pending.size > 0) {
      const hints = [...this.#pending.values()].flatMap(([channel, hint]) =>
        (typeof hint === "string" ? [hint] : hint()).map((payload) => [channel, payload] as const),
      );
      this.#pending.clear();
      if (hints.length === 0) continue;
      try {
        await this.#target.query(statement, [hints.map(([channel]) => channel), hints.map(([, payload]) => payload)]);
      } catch (reason) {
        this.#onEvent({ type: "notify.failed", reason });
      }
    }
    this.#sending = false;
  }
}
