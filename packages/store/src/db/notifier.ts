import type { DurationMs } from "@carillon/core";
import type { Queryable } from "./queryable.js";
import type { OnDatabaseEvent } from "./options.js";

/** Hints that may wait; further ones are dropped: polling finds the same rows later. */
const maxPending = 1_000;

/** A hint may be lost, so its commit need not wait for the disk: listeners receive it sooner. */
const statement = {
  prepared: "notifier_send",
  text:
    "with async as materialized (select set_config('synchronous_commit', 'off', true)) " +
    "select pg_notify(channel, payload) from async cross join unnest($1::text[], $2::text[]) as hint (channel, payload)",
};

/** The payload of a notification; a function is called when it is sent, so that it can combine everything until then. */
export type Hint = string | (() => readonly string[]);

/**
 * The pause between statements whose hints can wait. Each is a commit and wakes every listening node: beside a stream of small inserts
 * they would cost a quarter as much as the inserts.
 */
export const restMs: DurationMs = 5;

export interface NotifierPorts {
  readonly onEvent: OnDatabaseEvent;
  /** Calls back when the work of this turn of the event loop is done. */
  readonly soon: (work: () => void) => void;
  /** Resolves when hints that can wait may follow the last statement, or at once when the signal fires. */
  readonly rest: (signal: AbortSignal) => Promise<void>;
}

/**
 * Sends hints at the end of the turn; while a statement is in progress they are collected, and the next statement sends all of them, equal
 * ones once. Hints that can wait are collected until the pause after the last statement is over or an urgent hint is added.
 */
export class Notifier {
  readonly #target: Queryable;
  readonly #ports: NotifierPorts;
  readonly #pending = new Map<Hint, readonly [channel: string, hint: Hint]>();
  #sending = false;
  /** Fires when an urgent hint is added. */
  #hurry = new AbortController();

  constructor(target: Queryable, ports: NotifierPorts) {
    this.#target = target;
    this.#ports = ports;
  }

  send(channel: string, hint: Hint, canWait = false): void {
    if (this.#pending.size >= maxPending) return;
    this.#pending.set(typeof hint === "string" ? JSON.stringify([channel, hint]) : hint, [channel, hint]);
    if (!canWait) this.#hurry.abort();
    if (this.#sending) return;
    this.#sending = true;
    this.#ports.soon(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    while (this.#pending.size > 0) {
      const hints = [...this.#pending.values()].flatMap(([channel, hint]) =>
        (typeof hint === "string" ? [hint] : hint()).map((payload) => [channel, payload] as const),
      );
      this.#pending.clear();
      this.#hurry = new AbortController();
      if (hints.length === 0) continue;
      try {
        await this.#target.query(statement, [hints.map(([channel]) => channel), hints.map(([, payload]) => payload)]);
      } catch (reason) {
        this.#ports.onEvent({ type: "notify.failed", reason });
      }
      await this.#ports.rest(this.#hurry.signal);
    }
    this.#sending = false;
  }
}
