import { CarillonError, type DurationMs, systemSoon } from "@carillon/core";
import { loadStatements } from "../sql/statements.js";
import { type Connection, type ServerFacts, StatementNames } from "./connection.js";
import type { ConnectionSource } from "./connector.js";
import { DatabaseClock } from "./database-clock.js";
import { DatabaseHistory } from "./database-history.js";
import { DatabaseInHistory, type HistoryCalls } from "./database-in-history.js";
import type { Capabilities, Database, DatabaseLoad, DedicatedSession, Listening } from "./database.js";
import { ConnectionLost, classifyPgError, sqlStateOf, toStoreError } from "./errors.js";
import { backoffMs, type DatabaseState, Health, pause } from "./health.js";
import { DirectLine, type Hint, type Hold, Listeners, Notifier, restMs } from "./listen-notify.js";
import { type DatabaseOptions, type ResolvedOptions, resolveOptions } from "./options.js";
import { type Connections, planConnections } from "./pool.js";
import type { Queryable, QueryResult, SqlText } from "./queryable.js";
import { Session } from "./session.js";
import { mayRetry, runTransaction, type TransactionOptions } from "./transaction.js";

const defaultRetries = 3;
const pingMs = 10_000;
/** How often the hosts that are not in use are compared, at the latest. */
const surveyMs: DurationMs = 10_000;

/** Opens the database: finds the writable host, checks the server, measures its clock. Fails at once if it cannot. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const resolved = resolveOptions(options);
  const names = new StatementNames(resolved.statementNames, resolved.onEvent);
  const history = new DatabaseHistory(resolved.onEvent);
  const connections = planConnections(resolved, { names, history });
  const reserved = connections.reserve ? new Session(connections.source, "reserved", resolved.onEvent) : undefined;
  try {
    const first = reserved === undefined ? connections.pool.use(async (lent) => lent) : reserved.connection();
    const server = factsOf(await first);
    const lasting = resolved.directUrl === undefined ? server : await factsBehind(connections.direct);
    const capabilities = {
      listen: lasting.direct && connections.listen,
      advisoryLocks: lasting.direct && connections.listen,
      preparedStatements: names.usable(server.direct),
    };
    const database = new OpenDatabase({ options: resolved, connections, reserved, server, capabilities, history });
    await database.start();
    return database;
  } catch (error) {
    await Promise.all([connections.pool.close(), reserved?.close()]);
    throw toStoreError(error);
  }
}

async function factsBehind(source: ConnectionSource): Promise<ServerFacts> {
  const connection = await source.open("direct");
  await connection.dismiss();
  return factsOf(connection);
}

function factsOf({ facts }: Connection): ServerFacts {
  if (facts === undefined) throw new Error("a connection was used before its server was checked");
  return facts;
}

interface Opening {
  readonly options: ResolvedOptions;
  readonly connections: Connections;
  readonly reserved: Session | undefined;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly history: DatabaseHistory;
}

class OpenDatabase implements Database {
  readonly schema: string;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly ports: Database["ports"];
  readonly hot: Queryable;
  readonly reserved: Queryable;
  readonly history: DatabaseHistory;
  readonly #options: ResolvedOptions;
  readonly #connections: Connections;
  readonly #health: Health;
  readonly #hot: readonly Session[];
  readonly #reserved: Session | undefined;
  readonly #line: DirectLine;
  readonly #listeners: Listeners;
  readonly #notifier: Notifier;
  #clock: DatabaseClock | undefined;
  readonly #closed = new AbortController();
  #hasSettled = false;
  #closing: Promise<void> | undefined;

  constructor({ options, connections, reserved, server, capabilities, history }: Opening) {
    const { clock, timers, random, onEvent } = options;
    this.schema = options.schema;
    this.server = server;
    this.capabilities = capabilities;
    this.ports = { clock, timers, random };
    this.#options = options;
    this.#connections = connections;
    const hot = Array.from({ length: connections.hot }, () => new Session(connections.source, "hot", onEvent));
    this.#hot = hot;
    this.#reserved = reserved;
    this.history = history;
    history.onLeft(() => this.#leave());
    this.#health = new Health({
      probe: () => this.#probe(reserved),
      clock,
      timers,
      random,
      onEvent: (event) => {
        onEvent(event);
        if (event.type === "database.up") this.#admitCalls();
      },
    });
    const present = this.callsIn(() => history.generation);
    this.reserved = present.reserved;
    this.hot = present.hot;
    this.#listeners = new Listeners(onEvent);
    this.#line = new DirectLine({
      source: connections.direct,
      timers,
      random,
      onEvent,
      onNotification: (channel, payload) => this.#listeners.deliver(channel, payload),
      pingMs,
    });
    this.#notifier = new Notifier(this, { onEvent, soon: systemSoon, rest: (signal) => pause(restMs, timers, signal) });
  }

  async start(): Promise<void> {
    const onStep = (byMs: DurationMs): void => this.#options.onEvent({ type: "clock.stepped", byMs });
    this.#clock = await DatabaseClock.start(this.reserved, this.#options.clock, onStep);
    if (this.#connections.withOtherHosts.length > 0) void this.#surveyHosts();
  }

  inHistory(): Database {
    const { generation } = this.history;
    return new DatabaseInHistory(
      this,
      this.callsIn(() => generation),
    );
  }

  get state(): DatabaseState {
    return this.#health.state;
  }

  get load(): DatabaseLoad {
    return {
      pool: this.#connections.pool.load,
      hot: this.#hot.reduce((sum, session) => sum + session.waiting, 0),
      reserved: this.#reserved?.waiting ?? 0,
    };
  }

  get clock(): DatabaseClock {
    if (this.#clock === undefined) throw new Error("the database's clock is read before it was measured");
    return this.#clock;
  }

  query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    return this.#query(this.history.generation, statement, values);
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#transaction(this.history.generation, work, options);
  }

  /** Calls that are refused when they reach a connection in another generation of the history than that in which they began. */
  callsIn(generation: () => number): HistoryCalls {
    const query: Queryable["query"] = (statement, values) => this.#query(generation(), statement, values);
    const reserved = this.#reserved === undefined ? { query } : this.#guarded([this.#reserved], generation);
    return {
      query,
      reserved,
      hot: this.#hot.length === 0 ? { query } : this.#guarded(this.#hot, generation),
      transaction: (work, options) => this.#transaction(generation(), work, options),
      dedicated: (work) => this.#dedicated(generation(), work),
    };
  }

  #query<Row extends object>(
    generation: number,
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    return this.#retry(defaultRetries, isDeadlock, () =>
      this.#borrow(generation, (connection) => connection.query<Row>(statement, values)),
    );
  }

  async #transaction<T>(
    generation: number,
    work: (tx: Queryable) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const { timers, timeouts } = this.#options;
    const limits = {
      timers,
      timeoutMs: options.timeoutMs ?? timeouts.transactionMs,
      idleMs: timeouts.idleInTransactionMs,
    };
    const { retries = defaultRetries } = options;
    const isSafe = (error: unknown): boolean => mayRetry(error, options);
    return this.#retry(retries, isSafe, () =>
      this.#borrow(generation, (connection) => runTransaction(connection, work, options, limits)),
    );
  }

  /** Repeats the work after errors that left no effect. */
  async #retry<T>(retries: number, isSafe: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
    const { timers, random, onEvent } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (attempt > retries || !isSafe(error)) throw error;
        onEvent({ type: "transaction.retried", sqlState: sqlStateOf(error), attempt });
        await pause(backoffMs(attempt, random), timers);
      }
    }
  }

  dedicated<T>(work: (session: DedicatedSession) => Promise<T>): Promise<T> {
    return this.#dedicated(this.history.generation, work);
  }

  #dedicated<T>(generation: number, work: (session: DedicatedSession) => Promise<T>): Promise<T> {
    return this.#guard(async () => {
      const connection = await this.#connections.direct.open("dedicated");
      const keepsSession = connection.facts?.direct === true;
      try {
        this.history.assertIs(generation);
        return await work({ keepsSession, query: (statement, values) => connection.query(statement, values) });
      } finally {
        await connection.dismiss();
      }
    });
  }

  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect: () => void,
    onFirst?: () => void,
  ): Listening {
    if (!this.capabilities.listen) {
      const reason = "there is no lasting session: a pooler stands between, or the pool is too small";
      this.#options.onEvent({ type: "listen.unavailable", reason });
      return { stop: async () => undefined };
    }
    return this.hold(this.#listeners.add(channel, onNotify, onReconnect, onFirst));
  }

  hold(hold: Hold): Listening {
    if (!this.capabilities.advisoryLocks) {
      throw new CarillonError("direct_url_needed", "A lasting session needs a direct way to the database server.");
    }
    this.#line.hold(hold);
    return { stop: () => this.#line.drop(hold) };
  }

  notify(channel: string, hint: Hint, canWait?: boolean): void {
    this.#notifier.send(channel, hint, canWait);
  }

  waitUntilUp(): Promise<void> {
    return this.#health.waitUntilUp();
  }

  close(limitMs: DurationMs = 5_000): Promise<void> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  async #close(limitMs: DurationMs): Promise<void> {
    this.#closed.abort();
    const enough = new AbortController();
    const goodbyes = Promise.allSettled([
      this.#health.close(),
      this.#line.close(),
      this.#connections.pool.close(),
      this.#reserved?.close(),
      ...this.#hot.map((session) => session.close()),
    ]).finally(() => enough.abort());
    await pause(limitMs, this.#options.timers, enough.signal);
    this.#connections.destroyAll();
    await goodbyes;
  }

  /** Statements take turns on the sessions. */
  #guarded(sessions: readonly Session[], generation: () => number): Queryable {
    let turn = 0;
    return {
      query: <Row extends object>(statement: SqlText, values?: readonly unknown[]): Promise<QueryResult<Row>> => {
        const begun = generation();
        const check = (): void => this.history.assertIs(begun);
        return this.#retry(defaultRetries, isDeadlock, () =>
          this.#guard(() => {
            const session = sessions[turn++ % sessions.length];
            if (session === undefined) throw new Error("there is no session");
            return session.query<Row>(statement, values, check);
          }),
        );
      },
    };
  }

  /** Connections to the server that was left end at once: it may live on, and take writes. */
  #leave(): void {
    const reason = new ConnectionLost("the database was failed over or restored");
    this.#health.interrupt(reason);
    this.#connections.cut();
    for (const session of this.#hot) session.drop();
    this.#reserved?.drop();
    this.#line.reopen();
  }

  #admitCalls(): void {
    if (!this.#hasSettled) return;
    this.#hasSettled = false;
    this.history.settled();
  }

  async #settle(): Promise<void> {
    const connection = await this.#connections.source.open("settling");
    try {
      await this.history.settle(connection);
    } finally {
      connection.destroy();
    }
    this.#hasSettled = true;
  }

  async #surveyHosts(): Promise<void> {
    const { timers, random } = this.#options;
    const { signal } = this.#closed;
    for (;;) {
      await pause(surveyMs / 2 + (random() * surveyMs) / 2, timers, signal);
      if (signal.aborted) return;
      if (this.#health.state === "up")
        await Promise.all(this.#connections.withOtherHosts.map((connector) => connector.survey()));
    }
  }

  async #probe(reserved: Session | undefined): Promise<void> {
    if (!this.history.isSettled) await this.#settle();
    await (reserved === undefined
      ? this.#connections.pool.use((connection) => connection.query({ text: "select 1" }))
      : reserved.check());
  }

  #borrow<T>(generation: number, borrow: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#guard(() =>
      this.#connections.pool.use((connection) => {
        this.history.assertIs(generation);
        return borrow(connection);
      }),
    );
  }

  /** Refuses at once while the database is down, and turns errors of the driver into those of the store. */
  async #guard<T>(call: () => Promise<T>): Promise<T> {
    this.#health.assertUp();
    try {
      return await call();
    } catch (error) {
      const storeError = toStoreError(error);
      if (isOutage(storeError)) this.#health.suspect();
      throw storeError;
    }
  }
}

/** A statement outside a transaction that was the victim of a deadlock had no effect. */
function isDeadlock(error: unknown): boolean {
  return classifyPgError(error) === "serialization";
}

/** Whether an error means that the whole database may be unreachable. A full disk or too many connections do not. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof CarillonError)) return false;
  if (error.code === "database_refused") return true;
  const kind = classifyPgError(error);
  return error.code === "database_unavailable" && kind !== "disk_full" && kind !== "too_many_connections";
}

export interface WaitOptions {
  /** How long to try. */
  readonly deadlineMs: DurationMs;
  /** Called before each wait, with the error and how long the wait may still last. */
  readonly onWait?: (message: string, leftMs: DurationMs) => void;
  /** Ends the waiting early. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the database and waits for one that cannot be reached yet. An error that waiting cannot repair (a wrong password, a
 * server that is too old) is thrown at once.
 */
export async function waitForDatabase(options: DatabaseOptions, wait: WaitOptions): Promise<Database> {
  const { clock, timers, random } = options;
  const deadline = clock.monotonic() + wait.deadlineMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await openDatabase(options);
    } catch (error) {
      if (!(error instanceof CarillonError) || error.code !== "database_unavailable") throw error;
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0 || wait.signal?.aborted === true) throw timedOut(error, wait.deadlineMs);
      wait.onWait?.(error.message, leftMs);
      await pause(Math.min(leftMs, backoffMs(attempt, random)), timers, wait.signal);
    }
  }
}

function timedOut(last: CarillonError, deadlineMs: DurationMs): CarillonError {
  const seconds = Math.round(deadlineMs / 1000);
  return new CarillonError("database_unavailable", `Gave up after ${seconds} s. ${last.message}`, { cause: last });
}

const lockNotAvailable = "55P03";
/** A migration or a vacuum locks a table for a moment: that is no reason to refuse callers. */
const probeTries = 3;
const probePauseMs: DurationMs = 400;

/** Checks whether the tables that calls write to can be written to. It waits for no lock, and makes no other session wait. */
export function writeProbe(database: Pick<Database, "schema" | "reserved" | "ports">): () => Promise<boolean> {
  const statement = loadStatements(database.schema).get("health.can_write");
  return async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        await database.reserved.query(statement, []);
        return true;
      } catch (error) {
        if (sqlStateOf(error) !== lockNotAvailable) throw error;
        if (attempt === probeTries) return false;
      }
      await pause(probePauseMs, database.ports.timers);
    }
  };
}
