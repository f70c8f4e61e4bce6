import { type DurationMs, pending, type Timers } from "@carillon/core";
import type { Client, QueryConfig, QueryResult as PgResult } from "pg";
import { endsConnection, sqlStateOf } from "./classify.js";
import { ConnectionLost } from "./connection-lost.js";
import { queryTypes } from "./parsers.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";
import type { ServerFacts } from "./server-facts.js";
import { isLostName, type StatementNames } from "./statement-names.js";

export interface ConnectionOptions {
  readonly timers: Timers;
  readonly names: StatementNames;
  /** An answer that takes longer means a lost connection: the server's own timeout would have come first. 0: no limit. */
  readonly answerMs: DurationMs;
  /** How the connection goes away when nobody needs it. */
  readonly dismiss: () => Promise<void>;
}

/**
 * One connection of pg that knows whether it still works. On a pipelined client statements are sent without waiting for
 * the answers to those before; on another (an application's own pool) they wait for their turn here.
 */
export class Connection implements Queryable {
  readonly client: Client;
  readonly #options: ConnectionOptions;
  #facts: ServerFacts | undefined;
  #lost: ConnectionLost | undefined;
  #answerMs: DurationMs;
  #generation = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Client, options: ConnectionOptions) {
    this.client = client;
    this.#options = options;
    this.#answerMs = options.answerMs;
    // Without a listener the error of an idle client would end the process.
    client.on("error", (error) =>
      this.#lose(new ConnectionLost(`connection lost: ${error.message}`, { cause: error })),
    );
    client.on("end", () => this.#lose(new ConnectionLost("connection closed")));
  }

  get alive(): boolean {
    return this.#lost === undefined;
  }

  /** What the greeting found; until then the careful assumptions hold. */
  get facts(): ServerFacts | undefined {
    return this.#facts;
  }

  learn(facts: ServerFacts): void {
    this.#facts = facts;
  }

  /** How long an answer may take. */
  get answerMs(): DurationMs {
    return this.#answerMs;
  }

  /** Changes it, for work that is known to take longer; 0 lifts the limit. */
  limitAnswers(answerMs: DurationMs): void {
    this.#answerMs = answerMs;
  }

  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const name = this.#nameOf(statement);
    const generation = this.#generation;
    try {
      return await this.#inTurn<Row>(statement, values, name);
    } catch (error) {
      if (name === undefined || !isLostName(sqlStateOf(error))) throw error;
      if (generation === this.#generation) {
        this.#generation++;
        this.#options.names.countLost();
      }
      // Refused before it ran, so outside a transaction the same statement can go again without its name.
      if (this.client.getTransactionStatus() !== "I") throw error;
      return this.#inTurn<Row>(statement, values, undefined);
    }
  }

  /** Ends the connection now, whatever is in flight. */
  destroy(reason: ConnectionLost = new ConnectionLost("connection closed")): void {
    this.#lose(reason);
    this.client.connection.stream.destroy();
  }

  /** Lets the connection go; what is in flight on a pipelined one is awaited. */
  async dismiss(): Promise<void> {
    await this.#options.dismiss();
  }

  /** Each loss of a name starts a new generation of names, which the session cannot know yet. */
  #nameOf({ prepared }: SqlText): string | undefined {
    if (prepared === undefined || !this.#options.names.usable(this.#facts?.direct === true)) return undefined;
    return this.#generation === 0 ? prepared : `${prepared}.${this.#generation}`;
  }

  #inTurn<Row extends object>(sql: SqlText, values: readonly unknown[], name?: string): Promise<QueryResult<Row>> {
    if (this.client.pipeline) return this.#send(sql, values, name);
    const sent = this.#turn.then(() => this.#send<Row>(sql, values, name));
    this.#turn = sent.catch(() => undefined);
    return sent;
  }

  async #send<Row extends object>(sql: SqlText, values: readonly unknown[], name?: string): Promise<QueryResult<Row>> {
    if (this.#lost !== undefined) throw this.#lost;
    const stopGuard = this.#guardAnswer();
    try {
      const result = await this.#ask<Row>({
        text: sql.text,
        values: [...values],
        types: queryTypes,
        ...(name !== undefined && { name }),
        ...(sql.rowMode !== undefined && { rowMode: sql.rowMode }),
      });
      // Several statements in one text give several results; the last one counts.
      const last: PgResult<Row> | undefined = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], rowCount: last?.rowCount ?? 0 };
    } catch (error) {
      // Who asked, and not the socket on which the answer came.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw this.#explain(error);
    } finally {
      stopGuard();
    }
  }

  /** By a callback: the promise that pg makes keeps its query from being collected young (`pending`). */
  #ask<Row extends object>(query: QueryConfig): Promise<PgResult<Row>> {
    const { promise, resolve, reject } = pending<PgResult<Row>>();
    this.client.query<Row>(query, (error, result) => (error ? reject(error) : resolve(result)));
    return promise;
  }

  #guardAnswer(): () => void {
    const { timers } = this.#options;
    const answerMs = this.#answerMs;
    if (answerMs === 0) return () => undefined;
    const timer = timers.setTimeout(() => {
      this.destroy(new ConnectionLost(`no answer from the database within ${answerMs} ms`));
    }, answerMs);
    return () => timers.clearTimeout(timer);
  }

  /** An error of the server stays itself; one without SQLSTATE on a dead connection is the loss of the connection. */
  #explain(error: unknown): unknown {
    const sqlState = sqlStateOf(error);
    if (sqlState === undefined) return this.#lost ?? error;
    // Told before the socket closes: nobody must borrow the connection in between.
    if (endsConnection(sqlState)) this.destroy(new ConnectionLost("the server ended the connection", { cause: error }));
    return error;
  }

  #lose(reason: ConnectionLost): void {
    this.#lost ??= reason;
  }
}
