import type { DurationMs, Timers } from "@carillon/core";
import { backoffMs, pause } from "./backoff.js";
import type { Connection } from "./connection.js";
import type { ConnectionSource } from "./connector.js";
import type { Queryable } from "./queryable.js";
import type { Random, OnDatabaseEvent } from "./options.js";

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
