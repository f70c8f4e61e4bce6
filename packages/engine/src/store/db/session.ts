import type { Connection } from "./connection.js";
import type { Opened } from "./connector.js";
import type { ConnectionRole, OnDatabaseEvent } from "./events.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";

/** One dedicated connection, opened at first use and again after a loss. Pipelined: statements do not wait for each other. */
export class Session implements Queryable {
  readonly #open: () => Promise<Opened>;
  readonly #role: ConnectionRole;
  readonly #onEvent: OnDatabaseEvent;
  #opening: Promise<Connection> | undefined;
  #closed = false;

  constructor(role: ConnectionRole, open: () => Promise<Opened>, onEvent: OnDatabaseEvent) {
    this.#role = role;
    this.#open = open;
    this.#onEvent = onEvent;
  }

  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    const connection = await this.connection();
    return connection.query<Row>(statement, values);
  }

  connection(): Promise<Connection> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    try {
      await (await opening)?.end();
    } catch {
      // A connection that could not be opened needs no closing.
    }
  }

  async #connect(): Promise<Connection> {
    try {
      const { connection } = await this.#open();
      connection.client.on("end", () => {
        this.#opening = undefined;
        if (!this.#closed) this.#onEvent({ type: "connection.lost", role: this.#role, reason: "the connection ended" });
      });
      return connection;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
