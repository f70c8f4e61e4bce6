import { CarillonError, type DurationMs } from "@carillon/core";
import type { Connection } from "./connection.js";
import type { ServerFacts } from "./server-facts.js";

const oldestServer = 140_000;

interface Greeting {
  readonly pid: number;
  readonly version_num: number;
  readonly version: string;
  readonly standby: boolean;
  readonly read_only: boolean;
}

const greeting = {
  text: `select pg_backend_pid() as pid,
    current_setting('server_version_num')::int as version_num,
    current_setting('server_version') as version,
    pg_is_in_recovery() as standby,
    current_setting('transaction_read_only')::bool as read_only`,
};

/** Looks at the server behind a connection and refuses one that cannot serve us. */
export async function greet(connection: Connection): Promise<ServerFacts> {
  const { rows } = await connection.query<Greeting>(greeting);
  const [row] = rows;
  if (row === undefined) throw new Error("the database answered a greeting with no row");
  assertServes(row);
  const facts = {
    versionNum: row.version_num,
    version: row.version,
    direct: isDirect(connection, row.pid),
  };
  connection.learn(facts);
  return facts;
}

function assertServes(row: Greeting): void {
  if (row.version_num < oldestServer) {
    throw new CarillonError(
      "database_too_old",
      `The server is PostgreSQL ${row.version}; PostgreSQL ${oldestServer / 10_000} or newer is needed. Upgrade the server or use another database URL.`,
    );
  }
  if (row.standby || row.read_only) {
    throw new CarillonError(
      "database_unavailable",
      row.standby
        ? "The server is a standby and takes no writes: name the primary, or all hosts, in the database URL."
        : "The server takes no writes: default_transaction_read_only is on.",
    );
  }
}

/**
 * A pooler hands out cancel keys of its own, so the process id it announced at connect is not that of the backend.
 * Which pooling mode it runs cannot be seen from here; the careful answer is to expect the one that keeps no session.
 */
function isDirect(connection: Connection, pid: number): boolean {
  return "processID" in connection.client && connection.client.processID === pid;
}

/**
 * Settings of our own sessions: the results we parse, and the plans we rely on, must not hang on what a role or a database
 * has set. Never made through a pooler or on an application's own pool, where they would leak to others.
 */
export async function makeSettings(
  connection: Connection,
  limits: { readonly statementMs: DurationMs; readonly idleInTransactionMs: DurationMs; readonly scans: boolean },
): Promise<void> {
  const values: Readonly<Record<string, string>> = {
    statement_timeout: String(limits.statementMs),
    idle_in_transaction_session_timeout: String(limits.idleInTransactionMs),
    datestyle: "ISO",
    timezone: "UTC",
    client_min_messages: "warning",
    default_transaction_isolation: "read committed",
    jit: "off",
    // A plan that was made while a table was small is used until the table's statistics are renewed: a scan of it, cheap then,
    // would be made for every batch of the herd that filled it.
    enable_seqscan: limits.scans ? "on" : "off",
  };
  const calls = Object.entries(values).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  await connection.query({ text: `select ${calls.join(", ")}` });
}
