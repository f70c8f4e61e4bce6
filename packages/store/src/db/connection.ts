import { CarillonError, type DurationMs, type Timers, pending } from "@carillon/core";
import type { Client, QueryConfig, QueryResult as PgResult } from "pg";
import type { ServerHistory } from "./database-history.js";
import { AnswerLost, ConnectionLost, endsConnection, leavesOutcomeOpen, sqlStateOf } from "./errors.js";
import type { OnDatabaseEvent } from "./options.js";
import { queryTypes } from "./parsers.js";
import { isRead, type QueryResult, type Queryable, type SqlText } from "./queryable.js";

export interface ConnectionOptions {
  readonly timers: Timers;
  readonly names: StatementNames;
  /** A response that takes longer means a lost connection: the server's own timeout is shorter. 0: no limit. */
  readonly answerMs: DurationMs;
  /** Closes or returns the connection when it is no longer needed. */
  readonly dismiss: () => Promise<void>;
}

/**
 * One connection of pg that knows whether it still works. A pipelined client sends statements without waiting for the
 * responses to earlier ones; on another client (of an application's own pool) they wait for their turn here.
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

  /** Set by greet(); until then no feature of a session is used. */
  get facts(): ServerFacts | undefined {
    return this.#facts;
  }

  learn(facts: ServerFacts): void {
    this.#facts = facts;
  }

  /** How long a response may take. */
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

  /** Ends the connection now, with all statements in flight. */
  destroy(reason: ConnectionLost = new ConnectionLost("connection closed")): void {
    this.#lose(reason);
    this.client.connection.stream.destroy();
  }

  /** Gives up the connection; a pipelined one first awaits the statements in flight. */
  async dismiss(): Promise<void> {
    await this.#options.dismiss();
  }

  /** Each loss of a name starts a new generation of names, which the session does not have yet. */
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
      const result = await this.#sendQuery<Row>({
        text: sql.text,
        values: [...values],
        types: queryTypes,
        ...(name !== undefined && { name }),
        ...(sql.rowMode !== undefined && { rowMode: sql.rowMode }),
      });
      // Several statements in one text return several results; the last one counts.
      const last: PgResult<Row> | undefined = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], rowCount: last?.rowCount ?? 0 };
    } catch (error) {
      // The stack of the caller, not of the socket that received the response.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw this.#explain(error, sql);
    } finally {
      stopGuard();
    }
  }

  /** By a callback: the promise that pg makes keeps its query from being collected young (`pending`). */
  #sendQuery<Row extends object>(query: QueryConfig): Promise<PgResult<Row>> {
    const { promise, resolve, reject } = pending<PgResult<Row>>();
    this.client.query<Row>(query, (error, result) => (error ? reject(error) : resolve(result)));
    return promise;
  }

  #guardAnswer(): () => void {
    const { timers } = this.#options;
    const answerMs = this.#answerMs;
    if (answerMs === 0) return () => undefined;
    const timer = timers.setTimeout(() => {
      this.destroy(new ConnectionLost(`no response from the database within ${answerMs} ms`));
    }, answerMs);
    return () => timers.clearTimeout(timer);
  }

  /** An error of the server stays itself; one without SQLSTATE on a dead connection is the loss of the answer to a statement that was sent. */
  #explain(error: unknown, sql: SqlText): unknown {
    const sqlState = sqlStateOf(error);
    if (sqlState === undefined) return this.#lost === undefined ? error : lossOfAnswer(this.#lost, sql);
    // Marked before the socket closes: no caller may borrow the connection in between.
    if (endsConnection(sqlState)) this.destroy(new ConnectionLost("the server ended the connection", { cause: error }));
    return leavesOutcomeOpen(sqlState, this.#facts?.direct === true) ? lossOfAnswer(error, sql) : error;
  }

  #lose(reason: ConnectionLost): void {
    this.#lost ??= reason;
  }
}

/** A read has no effect, so nothing about it is unknown. */
function lossOfAnswer(error: unknown, sql: SqlText): unknown {
  if (isRead(sql)) return error;
  return new AnswerLost(error instanceof Error ? error.message : String(error), { cause: error });
}

const oldestServer = 140_000;

interface Greeting {
  readonly pid: number;
  readonly version_num: number;
  readonly version: string;
  readonly standby: boolean;
  readonly read_only: boolean;
  readonly system?: string | null;
  readonly timeline?: number | null;
}

const greeting = `select pg_backend_pid() as pid,
    current_setting('server_version_num')::int as version_num,
    current_setting('server_version') as version,
    pg_is_in_recovery() as standby,
    current_setting('transaction_read_only')::bool as read_only`;

/** The control file shows the old timeline until the next checkpoint, so it is read from the log. A standby writes none. */
const greetingWithHistory = `${greeting},
    (select system_identifier from pg_control_system())::text
      || '.' || (select oid from pg_database where datname = current_database())::text as system,
    case when not pg_is_in_recovery()
      then ('x' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8))::bit(32)::int end as timeline`;

/** The role may not call such a function, the server does not have it, or refuses it. */
const withoutHistory: ReadonlySet<string | undefined> = new Set(["42501", "42883", "0A000"]);

async function readGreeting(connection: Connection): Promise<Greeting> {
  const { rows } = await connection.query<Greeting>({ text: greetingWithHistory }).catch((error: unknown) => {
    if (!withoutHistory.has(sqlStateOf(error))) throw error;
    return connection.query<Greeting>({ text: greeting });
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the greeting of the database returned no row");
  return row;
}

/** Checks the server behind a connection and refuses one that cannot be used. */
export async function greet(connection: Connection): Promise<ServerFacts> {
  const row = await readGreeting(connection);
  assertServes(row);
  const { system = null, timeline = null } = row;
  const facts = {
    versionNum: row.version_num,
    version: row.version,
    direct: isDirect(connection, row.pid),
    history: system === null || timeline === null ? null : { system, timeline },
  };
  connection.learn(facts);
  return facts;
}

function assertServes(row: Greeting): void {
  if (row.version_num < oldestServer) {
    throw new CarillonError(
      "database_too_old",
      `The server is PostgreSQL ${row.version}; PostgreSQL ${oldestServer / 10_000} or newer is needed. Upgrade the server or use another database URL.`,
    );
  }
  if (row.standby || row.read_only) {
    throw new CarillonError(
      "database_unavailable",
      row.standby
        ? "The server is a standby and takes no writes: name the primary, or all hosts, in the database URL."
        : "The server takes no writes: default_transaction_read_only is on.",
    );
  }
}

/**
 * A pooler issues its own cancel keys, so the process id that it announced at connect is not that of the backend. Its
 * pooling mode is not visible from here, so the mode that keeps no session is assumed.
 */
function isDirect(connection: Connection, pid: number): boolean {
  return "processID" in connection.client && connection.client.processID === pid;
}

/**
 * Settings of Carillon's own sessions: neither the parsed results nor the plans may depend on the settings of a role or a database.
 * They are never made through a pooler or on an application's own pool, where other users would get them.
 */
export async function makeSettings(
  connection: Connection,
  limits: { readonly statementMs: DurationMs; readonly idleInTransactionMs: DurationMs; readonly scans: boolean },
): Promise<void> {
  const values: Readonly<Record<string, string>> = {
    statement_timeout: String(limits.statementMs),
    idle_in_transaction_session_timeout: String(limits.idleInTransactionMs),
    datestyle: "ISO",
    timezone: "UTC",
    client_min_messages: "warning",
    default_transaction_isolation: "read committed",
    jit: "off",
    // A plan that was made while a table was small is used until the table's statistics are renewed: its sequential scan, cheap then,
    // would run for every batch of the herd that filled the table.
    enable_seqscan: limits.scans ? "on" : "off",
  };
  const calls = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  await connection.query({ text: `select ${calls.join(", ")}` });
}

/** Facts about the server behind a connection. */
export interface ServerFacts {
  readonly versionNum: number;
  readonly version: string;
  /** false: a pooler stands between, because the backend is not the one that was announced at connect. */
  readonly direct: boolean;
  /** null: the server does not show it to this role. */
  readonly history: ServerHistory | null;
}

/** Lost names after which "auto" assumes that the connection keeps no session. */
const maxLostNames = 20;

/** The prepared statement does not exist (26000), or exists although this session never made it (42P05). */
const lostName: ReadonlySet<string | undefined> = new Set(["26000", "42P05"]);

export function isLostName(sqlState: string | undefined): boolean {
  return lostName.has(sqlState);
}

/**
 * Whether loaded statements are sent by name, which saves their parsing. A name belongs to a session, so a pooler that shares
 * sessions breaks it: with "auto", names are used on direct connections only, and no longer once too many were lost.
 */
export class StatementNames {
  readonly #mode: "auto" | "on" | "off";
  readonly #onEvent: OnDatabaseEvent;
  #lost = 0;

  constructor(mode: "auto" | "on" | "off", onEvent: OnDatabaseEvent) {
    this.#mode = mode;
    this.#onEvent = onEvent;
  }

  usable(direct: boolean): boolean {
    return this.#mode === "on" || (this.#mode === "auto" && direct && this.#lost < maxLostNames);
  }

  countLost(): void {
    this.#lost++;
    if (this.#mode === "auto" && this.#lost === maxLostNames) {
      this.#onEvent({ type: "statement_names.off", reason: "the server keeps losing prepared statements" });
    }
  }
}
