import type { DurationMs } from "@carillon/core";
import type { Queryable } from "./queryable.js";
import type { OnDatabaseEvent } from "./options.js";

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

/**
 * How far apart statements are sent whose hints can wait. Each is a commit of its own and wakes every node that listens: beside a
 * stream of small inserts they would cost a quarter of it.
 */
export const restMs: DurationMs = 5;

export interface NotifierPorts {
  readonly onEvent: OnDatabaseEvent;
  /** Calls back when this turn's work is done. */
  readonly soon: (work: () => void) => void;
  /** Resolves when hints that can wait may follow the last statement, or at once when the signal fires. */
  readonly rest: (signal: AbortSignal) => Promise<void>;
}

/**
 * Sends hints: with this turn's work done when none is being sent, otherwise all that gathered meanwhile in one statement, equal ones
 * once. Hints that can wait gather for longer, until the rest after the last statement is over or one comes that cannot.
 */
export class Notifier {
  readonly #target: Queryable;
  readonly #ports: NotifierPorts;
  readonly #pending = new Map<Hint, readonly [channel: string, hint: Hint]>();
  #sending = false;
  /** Fires when a hint comes that cannot wait. */
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
