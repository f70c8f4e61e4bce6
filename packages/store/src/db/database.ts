import type { Clock, DurationMs, Timers } from "@carillon/core";
import type { ServerFacts } from "./connection.js";
import type { DatabaseClock } from "./database-clock.js";
import type { DatabaseHistory } from "./database-history.js";
import type { DatabaseState } from "./health.js";
import type { Hint, Hold } from "./listen-notify.js";
import type { Random } from "./options.js";
import type { PoolLoad } from "./pool.js";
import type { Queryable } from "./queryable.js";
import type { TransactionOptions } from "./transaction.js";

/** The features that the connection to the server allows. A missing one has a slower replacement. */
export interface Capabilities {
  /** LISTEN works; otherwise nodes only poll. */
  readonly listen: boolean;
  /** Session-level advisory locks work; otherwise only leases show which nodes live. */
  readonly advisoryLocks: boolean;
  readonly preparedStatements: boolean;
}

/** The load of this process on the database, now. */
export interface DatabaseLoad {
  readonly pool: PoolLoad;
  /** Statements without a result yet. */
  readonly hot: number;
  readonly reserved: number;
}

export interface Listening {
  stop(): Promise<void>;
}

/** A connection for one piece of work, without a statement timeout. */
export interface DedicatedSession extends Queryable {
  /** Whether statements outside a transaction share one session: false through a pooler. */
  readonly keepsSession: boolean;
}

/** What the engine needs of the history that this process is in. */
export type HistoryOfDatabase = Pick<DatabaseHistory, "generation" | "isSettled" | "leave" | "settleBy">;

export interface Database extends Queryable {
  readonly schema: string;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly state: DatabaseState;
  readonly load: DatabaseLoad;
  readonly ports: { readonly clock: Clock; readonly timers: Timers; readonly random: Random };
  /** Hot single statements, pipelined over one or two dedicated connections. */
  readonly hot: Queryable;
  /** For heartbeats: a connection of its own, which an exhausted pool does not affect. */
  readonly reserved: Queryable;
  readonly clock: DatabaseClock;
  readonly history: HistoryOfDatabase;
  /** A handle whose calls are refused for good once the present history is left: what its user remembers is void then. */
  inHistory(): Database;
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs work on a connection of its own, past a pooler if there is a direct URL: migrations and other long work. */
  dedicated<T>(work: (session: DedicatedSession) => Promise<T>): Promise<T>;
  /**
   * Calls onNotify for each notification, onReconnect after each gap in which some may have been missed, and onFirst when LISTEN is
   * first in force. Without LISTEN it emits `listen.unavailable` and calls none of them; polling finds everything in any case.
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect: () => void,
    onFirst?: () => void,
  ): Listening;
  /** Keeps a state of a session, such as an advisory lock, on the direct connection. Needs capabilities.advisoryLocks. */
  hold(hold: Hold): Listening;
  /** Sends a hint, outside any transaction and without a result: equal hints are merged, a failure is only an event. `canWait` collects hints for a few milliseconds. */
  notify(channel: string, hint: Hint, canWait?: boolean): void;
  waitUntilUp(): Promise<void>;
  /** Idempotent. Connections that do not end within the limit are destroyed. */
  close(limitMs?: DurationMs): Promise<void>;
}
