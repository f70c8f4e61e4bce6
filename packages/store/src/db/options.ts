import { CarillonError, type Clock, type DurationMs, type Timers } from "@carillon/core";
import type pg from "pg";
import { assertSchemaName } from "../sql/sql-text.js";

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

/** How the connections are divided. */
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
    throw new CarillonError("database_url_invalid", "Give either a database URL or a pool.");
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

const shape = /^(postgres(?:ql)?:\/\/)(?:(.*)@)?([^/?@]*)([/?].*)?$/s;

/**
 * The hosts of a database URL, each as a URL: `postgres://u:p@a:5432,b:5433/db` names two. pg takes one host per URL; the
 * connector finds the one that takes writes. Messages never repeat the URL: it contains a password.
 */
export function hostUrls(url: string): readonly string[] {
  const [, scheme, user, hosts, rest = ""] = shape.exec(url) ?? [];
  if (scheme === undefined || hosts === undefined) {
    throw new CarillonError(
      "database_url_invalid",
      "The database URL is not valid: it must look like postgres://user:password@host:5432/database (several hosts: host1:5432,host2:5432).",
    );
  }
  const names = hosts.split(",");
  if (names.length > 1 && names.includes("")) {
    throw new CarillonError("database_url_invalid", "The database URL has an empty host in its list of hosts.");
  }
  const urls = names.map((host) => `${scheme}${user === undefined ? "" : `${user}@`}${host}${rest}`);
  for (const candidate of urls) assertUrl(candidate);
  return urls;
}

/** host:port of a host URL, fit for a message. */
export function hostLabel(url: string): string {
  const [, , , host] = shape.exec(url) ?? [];
  return host === undefined || host === "" ? "localhost" : decodeURIComponent(host);
}

function assertUrl(url: string): void {
  // A socket directory as host (%2Fvar%2Frun) and a missing host are fine for pg but not for every URL parser.
  const probe = url.replace(
    shape,
    (_all, scheme: string, _user, host: string) => `${scheme}${host === "" ? "localhost" : host}`,
  );
  if (!URL.canParse(probe)) {
    throw new CarillonError(
      "database_url_invalid",
      `The database URL has a host that is not valid: ${hostLabel(url)}.`,
    );
  }
}

/** A number in [0, 1). */
export type Random = () => number;

/** Events of the connections. Logs and metrics subscribe; tests wait for them. */
export type DatabaseEvent =
  | { readonly type: "database.down"; readonly reason: unknown }
  | { readonly type: "database.up"; readonly downMs: DurationMs }
  /** The server in use was replaced by one with another history: everything that is remembered is void. null: not shown. */
  | { readonly type: "database.history_left"; readonly timeline: number | null; readonly nextTimeline: number | null }
  /** A server that takes writes is refused, because another one took its place in a failover. */
  | {
      readonly type: "database.server_replaced";
      readonly host: string;
      readonly timeline: number;
      readonly newestTimeline: number;
    }
  | { readonly type: "connection.opened"; readonly role: ConnectionRole; readonly host: string }
  | { readonly type: "connection.lost"; readonly role: ConnectionRole; readonly reason: unknown }
  | { readonly type: "listen.started"; readonly channel: string; readonly again: boolean }
  | { readonly type: "listen.unavailable"; readonly reason: string }
  | { readonly type: "notify.failed"; readonly reason: unknown }
  | { readonly type: "transaction.retried"; readonly sqlState: string | undefined; readonly attempt: number }
  | { readonly type: "statement_names.off"; readonly reason: string }
  | { readonly type: "clock.stepped"; readonly byMs: DurationMs };

export type OnDatabaseEvent = (event: DatabaseEvent) => void;

/** The role of a connection. */
export type ConnectionRole = "pool" | "hot" | "reserved" | "direct" | "dedicated" | "settling";
