import type { Database, DatabaseLoad, DedicatedSession, Listening } from "./database.js";
import type { DatabaseClock } from "./database-clock.js";
import type { DatabaseState } from "./health.js";
import type { Hint, Hold } from "./listen-notify.js";
import type { Queryable } from "./queryable.js";
import type { TransactionOptions } from "./transaction.js";

/** The calls that reach the server, all of one generation of the history. */
export interface HistoryCalls extends Pick<Database, "query" | "transaction" | "dedicated" | "hot" | "reserved"> {}

/** A database as it is in one history: the connections are those of `base`, and calls after the end of that history are refused. */
export class DatabaseInHistory implements Database {
  readonly hot: Queryable;
  readonly reserved: Queryable;
  readonly query: Database["query"];
  readonly #base: Database;
  readonly #calls: HistoryCalls;

  constructor(base: Database, calls: HistoryCalls) {
    this.#base = base;
    this.#calls = calls;
    this.hot = calls.hot;
    this.reserved = calls.reserved;
    this.query = calls.query;
  }

  get schema(): string {
    return this.#base.schema;
  }

  get server(): Database["server"] {
    return this.#base.server;
  }

  get capabilities(): Database["capabilities"] {
    return this.#base.capabilities;
  }

  get state(): DatabaseState {
    return this.#base.state;
  }

  get load(): DatabaseLoad {
    return this.#base.load;
  }

  get ports(): Database["ports"] {
    return this.#base.ports;
  }

  get clock(): DatabaseClock {
    return this.#base.clock;
  }

  get history(): Database["history"] {
    return this.#base.history;
  }

  inHistory(): Database {
    return this;
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#calls.transaction(work, options);
  }

  dedicated<T>(work: (session: DedicatedSession) => Promise<T>): Promise<T> {
    return this.#calls.dedicated(work);
  }

  listen(...args: Parameters<Database["listen"]>): Listening {
    return this.#base.listen(...args);
  }

  hold(hold: Hold): Listening {
    return this.#base.hold(hold);
  }

  notify(channel: string, hint: Hint, canWait?: boolean): void {
    this.#base.notify(channel, hint, canWait);
  }

  waitUntilUp(): Promise<void> {
    return this.#base.waitUntilUp();
  }

  close(limitMs?: number): Promise<void> {
    return this.#base.close(limitMs);
  }
}
