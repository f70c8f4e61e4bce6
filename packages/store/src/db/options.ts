import { CarillonError, type Clock, type DurationMs, type Timers } from "@carillon/core";
import type pg from "pg";
import { assertSchemaName } from "../sql/schema-name.js";
import type { OnDatabaseEvent } from "./events.js";
import type { Random } from "./backoff.js";

export interface Timeouts {
  /** To open one connection. */
  readonly connectMs: DurationMs;
  /** To wait for a free connection of the pool. */
  readonly acquireMs: DurationMs;
  /** For one statement on the pool. */
  readonly statementMs: DurationMs;
  /** For one statement on the hot and the reserved connections; below the lease, so that no fence is held longer. */
  readonly hotStatementMs: DurationMs;
  /** For a whole transaction; below the lease for the same reason. */
  readonly transactionMs: DurationMs;
  /** For a transaction whose client is silent. */
  readonly idleInTransactionMs: DurationMs;
}

export const defaultTimeouts: Timeouts = Object.freeze({
  connectMs: 5_000,
  acquireMs: 5_000,
  statementMs: 15_000,
  hotStatementMs: 4_000,
  transactionMs: 4_000,
  idleInTransactionMs: 3_000,
});

export interface DatabaseOptions {
  /** postgres://user:password@host:5432/database; several hosts are allowed, the writable one is found. */
  readonly url?: string;
  /** The server itself, when `url` leads to a pooler: for LISTEN and advisory locks. */
  readonly directUrl?: string;
  /** Library mode: the application's own pool in place of `url`. Its session settings are left alone. */
  readonly pool?: pg.Pool;
  readonly schema: string;
  /** All connections this process opens to the database, the dedicated ones included. At least 3. */
  readonly poolSize?: number;
  readonly applicationName?: string;
  /** Prepared statements by name: "auto" means on, unless a pooler stands between. */
  readonly statementNames?: "auto" | "on" | "off";
  readonly timeouts?: Partial<Timeouts>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly onEvent?: OnDatabaseEvent;
}

/** How the budget of connections is spent. */
export interface ConnectionBudget {
  readonly pool: number;
  readonly hot: number;
  readonly reserved: number;
  readonly direct: number;
}

/** One direct (LISTEN, advisory locks), from 4 on one reserved and one or two hot; the rest is the pool. */
export function spendBudget(poolSize: number): ConnectionBudget {
  if (!Number.isInteger(poolSize) || poolSize < 3) {
    throw new CarillonError(
      "database_pool_too_small",
      `The pool size must be a whole number of at least 3, not ${poolSize}.`,
    );
  }
  if (poolSize === 3) return { pool: 2, hot: 0, reserved: 0, direct: 1 };
  const hot = poolSize >= 8 ? 2 : 1;
  return { pool: poolSize - hot - 2, hot, reserved: 1, direct: 1 };
}

export interface ResolvedOptions extends DatabaseOptions {
  readonly poolSize: number;
  readonly applicationName: string;
  readonly statementNames: "auto" | "on" | "off";
  readonly timeouts: Timeouts;
  readonly onEvent: OnDatabaseEvent;
}

export function resolveOptions(options: DatabaseOptions): ResolvedOptions {
  assertSchemaName(options.schema);
  if ((options.url === undefined) === (options.pool === undefined)) {
    throw new CarillonError("database_url_invalid", "Give either a database URL or a pool, not both and not neither.");
  }
  return {
    ...options,
    poolSize: options.poolSize ?? 10,
    applicationName: options.applicationName ?? "carillon",
    statementNames: options.statementNames ?? "auto",
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    onEvent: options.onEvent ?? (() => undefined),
  };
}
