import { CarillonError } from "@carillon/core";
import { type Connection, greet } from "./connection.js";
import type { ConnectionSource } from "./connector.js";
import type { ConnectionRole, OnDatabaseEvent } from "./options.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";

/** Statements that may wait for their results; more would only cost memory and latency. */
const maxInFlight = 1_000;

/** One dedicated connection, opened at first use and again at the first use after a loss. */
export class Session implements Queryable {
  readonly #source: ConnectionSource;
  readonly #role: ConnectionRole;
  readonly #onEvent: OnDatabaseEvent;
  #opening: Promise<Connection> | undefined;
  #live: Connection | undefined;
  #inFlight = 0;
  #closed = false;

  constructor(source: ConnectionSource, role: ConnectionRole, onEvent: OnDatabaseEvent) {
    this.#source = source;
    this.#role = role;
    this.#onEvent = onEvent;
  }

  /** Statements without a result yet. */
  get waiting(): number {
    return this.#inFlight;
  }

  /** `check` may refuse the call when the connection is there. */
  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
    check: () => void = () => undefined,
  ): Promise<QueryResult<Row>> {
    if (this.#inFlight >= maxInFlight) {
      throw new CarillonError("overloaded", `${maxInFlight} statements already wait on a ${this.#role} connection.`);
    }
    this.#inFlight++;
    try {
      const connection = await this.connection();
      check();
      return await connection.query<Row>(statement, values);
    } finally {
      this.#inFlight--;
    }
  }

  connection(): Promise<Connection> {
    if (this.#live?.alive === false) this.#forget(this.#live, "the connection broke");
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /**
   * Checks that the server responds and takes writes. An old connection may fail for another reason; only a new one, which
   * searches for the host that takes writes, decides.
   */
  async check(): Promise<void> {
    const connection = await this.connection();
    try {
      await greet(connection);
    } catch {
      connection.destroy();
      await this.connection();
    }
  }

  /** Ends the connection; the next use opens another. */
  drop(): void {
    this.#live?.destroy();
  }

  async close(): Promise<void> {
    this.#closed = true;
    try {
      await (await this.#opening)?.dismiss();
    } catch {
      // A connection that could not be opened needs no closing.
    }
  }

  async #open(): Promise<Connection> {
    try {
      const connection = await this.#source.open(this.#role);
      connection.client.once("end", () => this.#forget(connection, "the connection ended"));
      this.#live = connection;
      return connection;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #forget(connection: Connection, reason: unknown): void {
    if (this.#live !== connection) return;
    this.#live = undefined;
    this.#opening = undefined;
    if (!this.#closed) this.#onEvent({ type: "connection.lost", role: this.#role, reason });
  }
}
