import type { DurationMs } from "@carillon/core";
import type { DatabaseClock } from "./database-clock.js";
import type { DatabaseState } from "./health.js";
import type { Queryable } from "./queryable.js";
import type { ServerFacts } from "./server-facts.js";
import type { TransactionOptions } from "./transaction.js";

/** What the way to the server allows. What is not there has a slower replacement, never a wrong one. */
export interface Capabilities {
  /** LISTEN works; otherwise polling alone carries the wake-ups. */
  readonly listen: boolean;
  /** Session-level advisory locks work; otherwise plain leases alone say who is alive. */
  readonly advisoryLocks: boolean;
  readonly preparedStatements: boolean;
}

export interface Listening {
  stop(): Promise<void>;
}

export interface Database extends Queryable {
  readonly schema: string;
  readonly server: ServerFacts;
  readonly capabilities: Capabilities;
  readonly state: DatabaseState;
  /** Hot single statements, pipelined over one or two dedicated connections. */
  readonly hot: Queryable;
  /** For heartbeats: a connection that no exhausted pool can take away. */
  readonly reserved: Queryable;
  readonly clock: DatabaseClock;
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Calls onNotify for each notification, onReconnect after each gap in which some may have been missed. Behind a pooler
   * without a direct URL it reports that nothing will come; polling is the guarantee in any case.
   */
  listen(channel: string, onNotify: (payload: string) => void, onReconnect: () => void): Listening;
  /** Sends a hint. Never inside a transaction, never awaited, equal ones merged, a failure only reported. */
  notify(channel: string, payload: string): void;
  waitUntilUp(): Promise<void>;
  /** Idempotent; returns after the given time even if a connection does not say goodbye. */
  close(limitMs?: DurationMs): Promise<void>;
}
