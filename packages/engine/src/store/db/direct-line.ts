import type { DurationMs } from "@carillon/core";
import { backoffMs, pause } from "./backoff.js";
import { ConnectionLost } from "./connection-lost.js";
import type { Connection } from "./connection.js";
import type { Opened } from "./connector.js";
import type { OnDatabaseEvent } from "./events.js";
import type { Random, Timers } from "./ports.js";
import type { Queryable } from "./queryable.js";

/** A state of the session that must be there on every connection: a LISTEN, an advisory lock. */
export interface Hold {
  /** Makes the state on a new connection. */
  readonly setUp: (session: Queryable) => Promise<void>;
  /** Undoes it, on the connection that has it. */
  readonly takeDown: (session: Queryable) => Promise<void>;
  /** The state is there (again, after a gap, when `again`). */
  readonly onHeld: (again: boolean) => void;
  readonly onLost?: () => void;
}

export interface DirectLineOptions {
  readonly open: () => Promise<Opened>;
  readonly timers: Timers;
  readonly random: Random;
  readonly onEvent: OnDatabaseEvent;
  readonly onNotification: (channel: string, payload: string) => void;
  /** A silent connection is asked for a sign of life this often: a vanished server says no goodbye. */
  readonly pingMs: DurationMs;
}

/**
 * The one connection whose session means something. It is opened when the first hold is made and reopened by itself, with
 * jittered pauses, until the last hold is dropped; every hold is made again on each new connection.
 */
export class DirectLine {
  readonly #options: DirectLineOptions;
  readonly #holds = new Map<Hold, { heldBefore: boolean }>();
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #running: Promise<void> | undefined;

  constructor(options: DirectLineOptions) {
    this.#options = options;
  }

  hold(hold: Hold): void {
    this.#holds.set(hold, { heldBefore: false });
    if (this.#connection !== undefined) void this.#setUp(hold, this.#connection);
    this.#running ??= this.#run();
  }

  async drop(hold: Hold): Promise<void> {
    this.#holds.delete(hold);
    const connection = this.#connection;
    if (connection === undefined) return;
    if (this.#holds.size === 0) connection.destroy();
    else await hold.takeDown(connection).catch(() => connection.destroy());
  }

  async close(): Promise<void> {
    this.#holds.clear();
    this.#closing.abort();
    this.#connection?.destroy();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#holds.size > 0 && !this.#closing.signal.aborted) {
      try {
        const { connection } = await this.#options.open();
        failures = 0;
        await this.#serve(connection);
      } catch (reason) {
        this.#options.onEvent({ type: "connection.lost", role: "direct", reason });
      }
      failures++;
      if (this.#holds.size > 0) {
        await pause(backoffMs(failures, this.#options.random), this.#options.timers, this.#closing.signal);
      }
    }
    this.#running = undefined;
  }

  /** Makes all holds, then stays until the connection ends; throws why it did. */
  async #serve(connection: Connection): Promise<void> {
    const ended = new Promise<void>((resolve) => connection.client.once("end", () => resolve()));
    connection.client.on("notification", ({ channel, payload }) =>
      this.#options.onNotification(channel, payload ?? ""),
    );
    this.#connection = connection;
    if (this.#closing.signal.aborted) connection.destroy();
    for (const hold of this.#holds.keys()) await this.#setUp(hold, connection);
    const stopPing = this.#ping(connection);
    await ended;
    stopPing();
    this.#connection = undefined;
    for (const [hold, state] of this.#holds) if (state.heldBefore) hold.onLost?.();
    if (this.#holds.size > 0) throw new ConnectionLost("the direct connection ended");
  }

  async #setUp(hold: Hold, connection: Connection): Promise<void> {
    try {
      await hold.setUp(connection);
    } catch {
      connection.destroy(); // the next connection tries again
      return;
    }
    const state = this.#holds.get(hold);
    if (state === undefined) return;
    hold.onHeld(state.heldBefore);
    state.heldBefore = true;
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
