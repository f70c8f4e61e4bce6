import type { Clock, DurationMs, Timers } from "@carillon/core";
import type { ServerFacts } from "./connection.js";
import type { DatabaseClock } from "./database-clock.js";
import type { DatabaseState } from "./health.js";
import type { Hold } from "./listen.js";
import type { Hint } from "./notifier.js";
import type { Random } from "./options.js";
import type { PoolLoad } from "./pool.js";
import type { Queryable } from "./queryable.js";
import type { TransactionOptions } from "./transaction.js";

/** What the way to the server allows. What is not there has a slower replacement, never a wrong one. */
export interface Capabilities {
  /** LISTEN works; otherwise polling alone carries the wake-ups. */
  readonly listen: boolean;
  /** Session-level advisory locks work; otherwise plain leases alone say who is alive. */
  readonly advisoryLocks: boolean;
  readonly preparedStatements: boolean;
}

/** How much is asked of the database by this process, now. */
export interface DatabaseLoad {
  readonly pool: PoolLoad;
  /** Statements without an answer yet. */
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

export interface Database extends Queryable {
  readonly schema: string;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly state: DatabaseState;
  readonly load: DatabaseLoad;
  readonly ports: { readonly clock: Clock; readonly timers: Timers; readonly random: Random };
  /** Hot single statements, pipelined over one or two dedicated connections. */
  readonly hot: Queryable;
  /** For heartbeats: a connection that no exhausted pool can take away. */
  readonly reserved: Queryable;
  readonly clock: DatabaseClock;
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs work on a connection of its own, direct where there is a way: migrations and other long work. */
  dedicated<T>(work: (session: DedicatedSession) => Promise<T>): Promise<T>;
  /**
   * Calls onNotify for each notification, onReconnect after each gap in which some may have been missed, onFirst when it is
   * first listened. Where LISTEN cannot work it reports so and nothing will come; polling is the guarantee in any case.
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect: () => void,
    onFirst?: () => void,
  ): Listening;
  /** Keeps a state of a session, such as an advisory lock, on the direct connection. Needs capabilities.advisoryLocks. */
  hold(hold: Hold): Listening;
  /** Sends a hint; one that can wait gathers with others for a few milliseconds. Never inside a transaction, never awaited, equal ones merged, a failure only reported. */
  notify(channel: string, hint: Hint, canWait?: boolean): void;
  waitUntilUp(): Promise<void>;
  /** Idempotent. Connections that do not say goodbye within the limit are destroyed. */
  close(limitMs?: DurationMs): Promise<void>;
}
