import { CarillonError, type DurationMs, pending } from "@carillon/core";
import type { Pool, PoolClient } from "pg";
import { Connection } from "./connection.js";
import { describeConnectFailure, type ConnectionSource } from "./connector.js";
import type { ConnectionRole } from "./events.js";
import type { ResolvedOptions } from "./options.js";
import { Gate } from "./gate.js";
import { type ConnectionPool, type PoolLoad, waitingPerConnection } from "./pool.js";
import { greet } from "./greeting.js";
import type { StatementNames } from "./statement-names.js";

/**
 * The application's own pool (library mode). Its size, its clients' settings and its end are the application's: we make
 * no session settings, and what we borrow for good is destroyed on return, so that no LISTEN stays behind.
 */
export class LentPool implements ConnectionPool, ConnectionSource {
  readonly #pool: Pool;
  readonly #options: ResolvedOptions;
  readonly #names: StatementNames;
  readonly #gate: Gate;
  readonly #connections = new WeakMap<PoolClient, Connection>();

  constructor(pool: Pool, options: ResolvedOptions, names: StatementNames) {
    this.#pool = pool;
    this.#options = options;
    this.#names = names;
    const { max: size } = pool.options;
    // The pool's own queue has no bound: of ours, no more stand in it than it could serve at a time.
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
      const { client, connection } = await this.#borrow();
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
    const { client, connection } = await this.#borrow();
    // The pool forgets a client that it lent for good only when it comes back, dead or alive.
    client.once("end", () => client.release(true));
    if (role === "dedicated") connection.limitAnswers(0);
    this.#options.onEvent({ type: "connection.opened", role, host: "the application's pool" });
    return connection;
  }

  /** The application ends what it began. */
  async close(): Promise<void> {}

  async #borrow(): Promise<{ client: PoolClient; connection: Connection }> {
    let client: PoolClient;
    try {
      client = await this.#connect(this.#options.timeouts.acquireMs);
    } catch (error) {
      if (error instanceof CarillonError) throw error;
      throw describeConnectFailure(error, "the application's pool");
    }
    try {
      return { client, connection: this.#connections.get(client) ?? (await this.#adopt(client)) };
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** The application may use all of its connections for as long as it likes: nobody of ours waits for ever. */
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

  async #adopt(client: PoolClient): Promise<Connection> {
    const { timers, timeouts } = this.#options;
    const connection = new Connection(client, {
      timers,
      names: this.#names,
      answerMs: 2 * timeouts.statementMs,
      dismiss: async () => connection.destroy(),
    });
    await greet(connection);
    this.#connections.set(client, connection);
    return connection;
  }
}
