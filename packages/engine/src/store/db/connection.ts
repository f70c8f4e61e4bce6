import type { DurationMs } from "@carillon/core";
import type pg from "pg";
import { sqlStateOf } from "./classify.js";
import { ConnectionLost } from "./connection-lost.js";
import { queryTypes } from "./parsers.js";
import type { Timers } from "./ports.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";

export interface ConnectionOptions {
  readonly timers: Timers;
  /** Whether loaded statements go by their prepared name on this connection. Asked at each call. */
  readonly names: () => boolean;
  /** The server stops a statement at its timeout; this much later we stop believing in the connection. */
  readonly answerMs: DurationMs;
}

/** One connection of pg that knows whether it still works. Statements may be sent while others wait for their answer. */
export class Connection implements Queryable {
  readonly client: pg.Client;
  readonly #options: ConnectionOptions;
  #lost: ConnectionLost | undefined;

  constructor(client: pg.Client, options: ConnectionOptions) {
    this.client = client;
    this.#options = options;
    // Without a listener the error of an idle client would end the process.
    client.on("error", (error) =>
      this.#lose(new ConnectionLost(`connection lost: ${error.message}`, { cause: error })),
    );
    client.on("end", () => this.#lose(new ConnectionLost("connection closed")));
  }

  get alive(): boolean {
    return this.#lost === undefined;
  }

  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    if (this.#lost !== undefined) throw this.#lost;
    const { timers, names, answerMs } = this.#options;
    const timer = timers.setTimeout(() => {
      this.destroy(new ConnectionLost(`no answer from the database within ${answerMs} ms`));
    }, answerMs);
    const named = statement.prepared !== undefined && names() ? { name: statement.prepared } : {};
    try {
      const result = await this.client.query<Row>({
        text: statement.text,
        values: [...values],
        types: queryTypes,
        ...named,
      });
      const last: pg.QueryResult<Row> | undefined = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], rowCount: last?.rowCount ?? 0 };
    } catch (error) {
      throw this.#explain(error);
    } finally {
      timers.clearTimeout(timer);
    }
  }

  /** Ends the connection now, whatever is in flight. */
  destroy(reason: ConnectionLost = new ConnectionLost("connection closed")): void {
    this.#lose(reason);
    this.client.connection.stream.destroy();
  }

  /** Says goodbye to the server; what is in flight is awaited. */
  async end(): Promise<void> {
    await this.client.end();
  }

  #lose(reason: ConnectionLost): void {
    this.#lost ??= reason;
  }

  /** An error of the server stays itself; one without SQLSTATE on a dead connection is the loss of the connection. */
  #explain(error: unknown): unknown {
    return sqlStateOf(error) === undefined && this.#lost !== undefined ? this.#lost : error;
  }
}
