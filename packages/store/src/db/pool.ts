import { CarillonError, type DurationMs, pending, type Timers } from "@carillon/core";
import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import { Connection, greet, type StatementNames } from "./connection.js";
import { type ConnectionSource, Connector, describeConnectFailure } from "./connector.js";
import type { DatabaseHistory } from "./database-history.js";
import { ConnectionLost } from "./errors.js";
import { type ConnectionRole, type ResolvedOptions, spendBudget } from "./options.js";

/** Calls that may wait for a connection, for each connection of the pool. More would only time out. */
const waitingPerConnection = 100;

/** The connections that are in use now. */
export interface PoolLoad {
  readonly limit: number;
  readonly busy: number;
  readonly idle: number;
  /** Callers without a connection. */
  readonly waiting: number;
}

/** Lends connections, one borrower each. A connection that broke is never lent again. */
export interface ConnectionPool {
  readonly load: PoolLoad;
  use<T>(borrow: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Carillon's own pool, made of pg's: new clients connect to the host that takes writes, and are checked and set up before use. */
class OwnPool implements ConnectionPool {
  readonly #pool: Pool;
  readonly #gate: Gate;
  readonly #size: number;
  readonly #acquireMs: number;
  readonly #connections = new WeakMap<PoolClient, Connection>();

  constructor(connector: Connector, size: number, options: ResolvedOptions) {
    class HostClient extends Client {
      constructor(config?: ClientConfig) {
        super({ ...config, ...connector.clientConfig() });
        connector.track(this);
      }
    }
    this.#size = size;
    this.#acquireMs = options.timeouts.acquireMs;
    // Callers wait at this gate, which is bounded, so the pool itself never queues, and all its errors are connect errors.
    this.#gate = new Gate({ size, maxWaiting: size * waitingPerConnection, timers: options.timers });
    this.#pool = new Pool({
      max: size,
      connectionTimeoutMillis: options.timeouts.connectMs,
      idleTimeoutMillis: 60_000,
      Client: HostClient,
      verify: (client, done) => {
        connector.adopt(client).then((connection) => {
          this.#connections.set(client, connection);
          done();
        }, done);
      },
    });
    this.#pool.on("error", (reason) => options.onEvent({ type: "connection.lost", role: "pool", reason }));
  }

  get load(): PoolLoad {
    const { inside: busy, waiting } = this.#gate;
    return { limit: this.#size, busy, idle: this.#pool.idleCount, waiting };
  }

  async use<T>(borrow: (connection: Connection) => Promise<T>): Promise<T> {
    await this.#gate.enter(this.#acquireMs);
    try {
      const client = await this.#connect();
      const connection = this.#connections.get(client);
      if (connection === undefined) throw new Error("the pool lent a client that was never set up");
      try {
        return await borrow(connection);
      } finally {
        client.release(!connection.alive);
      }
    } finally {
      this.#gate.leave();
    }
  }

  async close(): Promise<void> {
    this.#gate.refuseAll(new ConnectionLost("the database was closed"));
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw describeConnectFailure(error, "the database");
    }
  }
}

/** The source of each kind of connection, and how many there may be. */
export interface Connections {
  readonly pool: ConnectionPool;
  /** For the reserved and the hot connections. */
  readonly source: ConnectionSource;
  /** For features of a lasting session; the direct URL if one is given. */
  readonly direct: ConnectionSource;
  /** 0: hot statements use the pool. */
  readonly hot: number;
  /** False: the pool is too small to give a connection away for heartbeats. */
  readonly reserve: boolean;
  /** False: the pool is too small to give a connection away for LISTEN. */
  readonly listen: boolean;
  /** Those with several hosts, which have to be compared from time to time. */
  readonly withOtherHosts: readonly Connector[];
  /** Ends the connections that are open or being opened. Those of an application's pool are checked again when they are next lent. */
  cut(): void;
  destroyAll(): void;
}

export interface ConnectionParts {
  readonly names: StatementNames;
  readonly history: DatabaseHistory;
}

export function planConnections(options: ResolvedOptions, { names, history }: ConnectionParts): Connections {
  const direct =
    options.directUrl === undefined ? undefined : new Connector(options.directUrl, options, names, history);
  if (options.pool !== undefined)
    return fromLentPool(new LentPool(options.pool, options, { names, history }), direct, options.pool.options.max);
  if (options.url === undefined) throw new CarillonError("database_url_invalid", "A database URL is needed.");
  const connector = new Connector(options.url, options, names, history);
  const budget = spendBudget(options.poolSize);
  return {
    pool: new OwnPool(connector, budget.pool, options),
    source: connector,
    direct: direct ?? connector,
    hot: budget.hot,
    reserve: budget.reserved > 0,
    listen: true,
    withOtherHosts: [connector, ...(direct === undefined ? [] : [direct])].filter((one) => one.hasOthers),
    cut: () => {
      connector.cut();
      direct?.cut();
    },
    destroyAll: () => {
      connector.destroyAll();
      direct?.destroyAll();
    },
  };
}

/** The application's pool is the budget: connections of it are kept only if enough remain for all other calls. */
function fromLentPool(pool: LentPool, direct: Connector | undefined, size: number): Connections {
  return {
    pool,
    source: pool,
    direct: direct ?? pool,
    hot: 0,
    reserve: size >= 4,
    listen: direct !== undefined || size >= 3,
    withOtherHosts: direct?.hasOthers === true ? [direct] : [],
    cut: () => direct?.cut(),
    destroyAll: () => direct?.destroyAll(),
  };
}

/**
 * The application's own pool (library mode). The application decides its size, its clients' settings and its end: no
 * session settings are made here, and a connection that was kept is destroyed on return, so that no LISTEN stays behind.
 */
class LentPool implements ConnectionPool, ConnectionSource {
  readonly #pool: Pool;
  readonly #options: ResolvedOptions;
  readonly #names: StatementNames;
  readonly #history: DatabaseHistory;
  readonly #gate: Gate;
  readonly #connections = new WeakMap<PoolClient, Lent>();

  constructor(pool: Pool, options: ResolvedOptions, { names, history }: ConnectionParts) {
    this.#pool = pool;
    this.#options = options;
    this.#names = names;
    this.#history = history;
    const { max: size } = pool.options;
    // The pool's own queue has no bound: the gate admits no more callers than the pool has connections.
    this.#gate = new Gate({ size, maxWaiting: size * waitingPerConnection, timers: options.timers });
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    const busy = totalCount - idleCount;
    return { limit: options.max, busy, idle: idleCount, waiting: waitingCount + this.#gate.waiting };
  }

  async use<T>(borrow: (connection: Connection) => Promise<T>): Promise<T> {
    await this.#gate.enter(this.#options.timeouts.acquireMs);
    try {
      const { client, connection } = await this.#borrow("pool");
      try {
        return await borrow(connection);
      } finally {
        client.release(!connection.alive);
      }
    } finally {
      this.#gate.leave();
    }
  }

  async open(role: ConnectionRole): Promise<Connection> {
    const { client, connection } = await this.#borrow(role);
    // The pool forgets a client that was kept only when it is released, alive or not.
    client.once("end", () => client.release(true));
    if (role === "dedicated") connection.limitAnswers(0);
    this.#options.onEvent({ type: "connection.opened", role, host: "the application's pool" });
    return connection;
  }

  /** The application ends its own pool. */
  async close(): Promise<void> {}

  async #borrow(role: ConnectionRole): Promise<{ client: PoolClient; connection: Connection }> {
    let client: PoolClient;
    try {
      client = await this.#connect(this.#options.timeouts.acquireMs);
    } catch (error) {
      if (error instanceof CarillonError) throw error;
      throw describeConnectFailure(error, "the application's pool");
    }
    try {
      return { client, connection: await this.#connectionOf(client, role) };
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** The application may use all of its connections without a time limit, so the wait has one. */
  #connect(limitMs: DurationMs): Promise<PoolClient> {
    const { timers } = this.#options;
    const { promise, resolve, reject } = pending<PoolClient>();
    let isLate = false;
    const timer = timers.setTimeout(() => {
      isLate = true;
      reject(new CarillonError("overloaded", `The application's pool had no free connection within ${limitMs} ms.`));
    }, limitMs);
    this.#pool.connect().then(
      (client) => {
        timers.clearTimeout(timer);
        if (isLate) client.release();
        else resolve(client);
      },
      (error: Error) => {
        timers.clearTimeout(timer);
        reject(error);
      },
    );
    return promise;
  }

  /** A connection is checked when it is first lent, and again after the database was failed over. */
  async #connectionOf(client: PoolClient, role: ConnectionRole): Promise<Connection> {
    const lent = this.#connections.get(client);
    const { generation } = this.#history;
    if (lent?.generation === generation && this.#history.isSettled) return lent.connection;
    const connection = lent?.connection ?? this.#adopt(client);
    const { history } = await greet(connection);
    this.#history.admit(history, "the application's pool", role === "settling");
    this.#connections.set(client, { connection, generation });
    return connection;
  }

  #adopt(client: PoolClient): Connection {
    const { timers, timeouts } = this.#options;
    const connection = new Connection(client, {
      timers,
      names: this.#names,
      answerMs: 2 * timeouts.statementMs,
      dismiss: async () => connection.destroy(),
    });
    return connection;
  }
}

/** A connection of the application's pool, and the generation of the history in which its server was checked. */
interface Lent {
  readonly connection: Connection;
  readonly generation: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

/** Admits at most `size` callers at a time, in the order of their calls. Waiting callers are bounded in number and in time. */
export class Gate {
  readonly #size: number;
  readonly #maxWaiting: number;
  readonly #timers: Timers;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;

  constructor(options: { size: number; maxWaiting: number; timers: Timers }) {
    this.#size = options.size;
    this.#maxWaiting = options.maxWaiting;
    this.#timers = options.timers;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  async enter(waitMs: DurationMs): Promise<void> {
    if (this.#inside < this.#size) {
      this.#inside++;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new CarillonError("overloaded", `${this.#waiting.size} calls already wait for a database connection.`);
    }
    await this.#wait(waitMs);
  }

  /** Admits the caller that waits longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#inside--;
      return;
    }
    this.#waiting.delete(next);
    next.admit();
  }

  /** Every waiting caller fails with this error. */
  refuseAll(error: Error): void {
    for (const waiter of this.#waiting) waiter.refuse(error);
    this.#waiting.clear();
  }

  #wait(waitMs: DurationMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          this.#timers.clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          this.#timers.clearTimeout(timer);
          reject(error);
        },
      };
      const timer = this.#timers.setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new CarillonError("overloaded", `No database connection became free within ${waitMs} ms.`));
      }, waitMs);
      this.#waiting.add(waiter);
    });
  }
}
