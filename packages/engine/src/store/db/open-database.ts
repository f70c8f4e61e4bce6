import { CarillonError, type DurationMs } from "@carillon/core";
import { backoffMs, pause } from "./backoff.js";
import { classifyPgError, sqlStateOf } from "./classify.js";
import { Connector, type Opened } from "./connector.js";
import { DatabaseClock } from "./database-clock.js";
import type { Capabilities, Database, Listening } from "./database.js";
import { DirectLine, type Hold } from "./direct-line.js";
import { Health, type DatabaseState } from "./health.js";
import { Notifier } from "./notifier.js";
import { resolveOptions, spendBudget, type DatabaseOptions, type ResolvedOptions } from "./options.js";
import { OwnPool, type ConnectionPool } from "./pool.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";
import type { ServerFacts } from "./server-facts.js";
import { Session } from "./session.js";
import { toStoreError } from "./store-error.js";
import { mayRetry, runTransaction, type TransactionOptions } from "./transaction.js";

const defaultRetries = 3;

/** Opens the database: finds the writable host, checks the server, measures its clock. Fails at once if it cannot. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const resolved = resolveOptions(options);
  const url = resolved.url;
  if (url === undefined) throw new CarillonError("database_url_invalid", "A database URL is needed.");
  const connector = new Connector(url, resolved);
  try {
    const first = await connector.open("reserved");
    const directConnector = resolved.directUrl === undefined ? connector : new Connector(resolved.directUrl, resolved);
    const database = new OpenDatabase(resolved, connector, directConnector, first);
    await database.start();
    return database;
  } catch (error) {
    throw toStoreError(error);
  }
}

class OpenDatabase implements Database {
  readonly schema: string;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly hot: Queryable;
  readonly reserved: Queryable;
  readonly #options: ResolvedOptions;
  readonly #health: Health;
  readonly #pool: ConnectionPool;
  readonly #sessions: readonly Session[];
  readonly #line: DirectLine;
  readonly #notifier: Notifier;
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  #clock: DatabaseClock | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedOptions, connector: Connector, direct: Connector, first: Opened) {
    const { onEvent, timers, random, clock } = options;
    const budget = spendBudget(options.poolSize);
    this.#options = options;
    this.schema = options.schema;
    this.server = first.facts;
    const session = first.facts.direct || direct !== connector;
    this.capabilities = { listen: session, advisoryLocks: session, preparedStatements: first.facts.direct };
    this.#pool = new OwnPool(connector, budget.pool, options);
    let unused: Opened | undefined = first;
    const reserved = new Session(
      "reserved",
      async () => {
        const opened = unused ?? (await connector.open("reserved"));
        unused = undefined;
        return opened;
      },
      onEvent,
    );
    const hot = Array.from({ length: budget.hot }, () => new Session("hot", () => connector.open("hot"), onEvent));
    this.#sessions = [reserved, ...hot];
    this.#health = new Health({
      probe: async () => void (await reserved.connection()),
      clock,
      timers,
      random,
      onEvent,
    });
    this.reserved = { query: (statement, values) => this.#guard(() => reserved.query(statement, values)) };
    let turn = 0;
    this.hot = {
      query: (statement, values) => this.#guard(() => pick(hot, turn++).query(statement, values)),
    };
    this.#line = new DirectLine({
      open: () => direct.open("direct"),
      timers,
      random,
      onEvent,
      onNotification: (channel, payload) => {
        for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
      },
      pingMs: 10_000,
    });
    this.#notifier = new Notifier(this, onEvent);
  }

  async start(): Promise<void> {
    this.#clock = await DatabaseClock.start(this.reserved, this.#options.clock, (byMs) =>
      this.#options.onEvent({ type: "clock.stepped", byMs }),
    );
  }

  get state(): DatabaseState {
    return this.#health.state;
  }

  get clock(): DatabaseClock {
    if (this.#clock === undefined) throw new Error("the database's clock is read before it was measured");
    return this.#clock;
  }

  query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    return this.#guard(() => this.#pool.use((connection) => connection.query<Row>(statement, values)));
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { timers, random, onEvent } = this.#options;
    const retries = options.retries ?? defaultRetries;
    const begin = `begin isolation level ${options.isolation ?? "read committed"}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#guard(() => this.#pool.use((connection) => runTransaction(connection, begin, work)));
      } catch (error) {
        if (attempt > retries || !mayRetry(error, options)) throw error;
        onEvent({ type: "transaction.retried", sqlState: sqlStateOf(error), attempt });
        await pause(backoffMs(attempt, random), timers);
      }
    }
  }

  listen(channel: string, onNotify: (payload: string) => void, onReconnect: () => void): Listening {
    const { onEvent } = this.#options;
    if (!this.capabilities.listen) {
      onEvent({ type: "listen.unavailable", reason: "a pooler stands between and no direct URL is given" });
      return { stop: async () => undefined };
    }
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(onNotify);
    const name = `"${channel.replaceAll('"', '""')}"`;
    const hold: Hold = {
      setUp: async (session) => void (await session.query({ text: `listen ${name}` })),
      takeDown: async (session) => {
        if (listeners.size === 0) await session.query({ text: `unlisten ${name}` });
      },
      onHeld: (again) => {
        onEvent({ type: "listen.started", channels: [channel], again });
        if (again) onReconnect();
      },
    };
    this.#line.hold(hold);
    return {
      stop: async () => {
        listeners.delete(onNotify);
        await this.#line.drop(hold);
      },
    };
  }

  notify(channel: string, payload: string): void {
    this.#notifier.send(channel, payload);
  }

  waitUntilUp(): Promise<void> {
    return this.#health.waitUntilUp();
  }

  close(limitMs: DurationMs = 5_000): Promise<void> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  async #close(limitMs: DurationMs): Promise<void> {
    const all = Promise.allSettled([
      this.#health.close(),
      this.#line.close(),
      this.#pool.close(),
      ...this.#sessions.map((session) => session.close()),
    ]);
    await Promise.race([all, pause(limitMs, this.#options.timers)]);
  }

  /** Refuses while the database is down, and turns what comes back into the store's errors. */
  async #guard<T>(call: () => Promise<T>): Promise<T> {
    this.#health.assertUp();
    try {
      return await call();
    } catch (error) {
      const kind = classifyPgError(error);
      if (kind === "transient_connection" || kind === "read_only") this.#health.suspect();
      throw toStoreError(error);
    }
  }
}

function pick<T>(items: readonly T[], turn: number): T {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}
