import { Client, Pool, type ClientConfig, type PoolClient } from "pg";
import { ConnectionLost } from "./connection-lost.js";
import type { Connection } from "./connection.js";
import { describeConnectFailure, type Connector } from "./connector.js";
import { Gate } from "./gate.js";
import type { ResolvedOptions } from "./options.js";

/** Calls that may wait for a connection, for each connection of the pool. More would only time out. */
export const waitingPerConnection = 100;

/** What is lent out now. */
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

/** Our own pool over pg's: new clients go to the host that takes writes, and are checked and set up before use. */
export class OwnPool implements ConnectionPool {
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
    // Who waits, waits at our gate, which is bounded; so the pool itself never queues, and its errors are of connecting.
    this.#gate = new Gate({ size, maxWaiting: size * waitingPerConnection, timers: options.timers });
    this.#pool = new Pool({
      max: size,
      connectionTimeoutMillis: options.timeouts.connectMs,
      idleTimeoutMillis: 60_000,
      Client: HostClient,
      verify: (client, done) => {
        connector.adopt(client, "pool").then((connection) => {
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
