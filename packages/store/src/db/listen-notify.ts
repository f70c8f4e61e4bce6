import type { DurationMs, Timers } from "@carillon/core";
import type { Connection } from "./connection.js";
import type { ConnectionSource } from "./connector.js";
import { backoffMs, pause } from "./health.js";
import type { OnDatabaseEvent, Random } from "./options.js";
import type { Queryable } from "./queryable.js";

/** A state of the session that every new connection must get: a LISTEN, an advisory lock. */
export interface Hold {
  /** Makes the state on a new connection. An error ends the connection, and the next one tries again. */
  readonly setUp: (session: Queryable) => Promise<void>;
  /** Undoes it on the connection that has it; undefined: no connection has it. */
  readonly takeDown: (session: Queryable | undefined) => Promise<void>;
  /** The state is made; `again`: after a gap. */
  readonly onHeld: (again: boolean) => void;
  /** The connection that had it has ended. */
  readonly onLost?: () => void;
}

export interface DirectLineOptions {
  readonly source: ConnectionSource;
  readonly timers: Timers;
  readonly random: Random;
  readonly onEvent: OnDatabaseEvent;
  readonly onNotification: (channel: string, payload: string) => void;
  /** The interval of pings on an idle connection: a vanished server does not close it. */
  readonly pingMs: DurationMs;
}

interface HoldState {
  held: boolean;
  heldBefore: boolean;
}

/**
 * The one connection whose session has a state. It is opened with the first hold and reopened after a loss, with jittered
 * pauses, until the last hold is dropped; every hold is made again on each new connection.
 */
export class DirectLine {
  readonly #options: DirectLineOptions;
  readonly #holds = new Map<Hold, HoldState>();
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;

  constructor(options: DirectLineOptions) {
    this.#options = options;
  }

  hold(hold: Hold): void {
    if (this.#closing.signal.aborted) return;
    this.#holds.set(hold, { held: false, heldBefore: false });
    if (this.#connection !== undefined) void this.#setUp(hold, this.#connection);
    this.#running ??= this.#run();
  }

  async drop(hold: Hold): Promise<void> {
    this.#holds.delete(hold);
    const connection = this.#connection;
    await hold.takeDown(connection).catch(() => connection?.destroy());
    if (this.#holds.size === 0) connection?.destroy();
  }

  /** Ends the connection; another is opened, and every hold is made again on it. */
  reopen(): void {
    this.#connection?.destroy();
  }

  async close(): Promise<void> {
    this.#holds.clear();
    this.#closing.abort();
    this.#connection?.destroy();
    await this.#running;
  }

  get #wanted(): boolean {
    return this.#holds.size > 0 && !this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { source, timers, random, onEvent } = this.#options;
    for (let failures = 0; this.#wanted;) {
      try {
        await this.#serve(await source.open("direct"));
        failures = 1;
        if (this.#wanted) onEvent({ type: "connection.lost", role: "direct", reason: "the connection ended" });
      } catch (reason) {
        failures++;
        onEvent({ type: "connection.lost", role: "direct", reason });
      }
      if (this.#wanted) await pause(backoffMs(failures, random), timers, this.#closing.signal);
    }
    this.#running = undefined;
  }

  /** Makes all holds, then stays until the connection ends. */
  async #serve(connection: Connection): Promise<void> {
    const { onNotification } = this.#options;
    if (!connection.alive) return;
    const ended = new Promise<void>((resolve) => connection.client.once("end", resolve));
    connection.client.on("notification", ({ channel, payload }) => onNotification(channel, payload ?? ""));
    this.#connection = connection;
    if (!this.#wanted) connection.destroy();
    await Promise.all([...this.#holds.keys()].map((hold) => this.#setUp(hold, connection)));
    const stopPing = this.#ping(connection);
    await ended;
    stopPing();
    this.#connection = undefined;
    for (const [hold, state] of this.#holds) {
      if (state.held) hold.onLost?.();
      state.held = false;
    }
  }

  async #setUp(hold: Hold, connection: Connection): Promise<void> {
    try {
      await hold.setUp(connection);
    } catch {
      connection.destroy();
      return;
    }
    const state = this.#holds.get(hold);
    if (state === undefined) return;
    const again = state.heldBefore;
    state.held = true;
    state.heldBefore = true;
    hold.onHeld(again);
  }

  #ping(connection: Connection): () => void {
    const { timers, pingMs } = this.#options;
    let timer: unknown;
    const next = (): void => {
      timer = timers.setTimeout(() => {
        connection.query({ text: "select 1" }).then(next, () => connection.destroy());
      }, pingMs);
    };
    next();
    return () => timers.clearTimeout(timer);
  }
}

/** The listeners of each channel. */
export class Listeners {
  readonly #byChannel = new Map<string, Map<Hold, (payload: string) => void>>();
  readonly #onEvent: OnDatabaseEvent;

  constructor(onEvent: OnDatabaseEvent) {
    this.#onEvent = onEvent;
  }

  /** The hold that keeps the LISTEN; dropping it ends the listening. */
  add(channel: string, onNotify: (payload: string) => void, onReconnect: () => void, onFirst?: () => void): Hold {
    const listeners = this.#byChannel.get(channel) ?? new Map<Hold, (payload: string) => void>();
    this.#byChannel.set(channel, listeners);
    const name = `"${channel.replaceAll('"', '""')}"`;
    const hold: Hold = {
      setUp: async (session) => {
        await session.query({ text: `listen ${name}` });
      },
      takeDown: async (session) => {
        listeners.delete(hold);
        if (listeners.size > 0 || session === undefined) return;
        await session.query({ text: `unlisten ${name}` });
      },
      onHeld: (again) => {
        this.#onEvent({ type: "listen.started", channel, again });
        if (again) onReconnect();
        else onFirst?.();
      },
    };
    listeners.set(hold, onNotify);
    return hold;
  }

  deliver(channel: string, payload: string): void {
    for (const onNotify of this.#byChannel.get(channel)?.values() ?? []) onNotify(payload);
  }
}

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
