import { ConnectionLost } from "./connection-lost.js";

/** What a failed statement means for its caller. Decided by SQLSTATE and system error code, never by the message. */
export type PgErrorClass =
  | "transient_connection"
  | "serialization"
  | "unique"
  | "check"
  | "disk_full"
  | "read_only"
  | "too_many_connections"
  | "cancelled"
  | "other";

const bySqlState: ReadonlyMap<string, PgErrorClass> = new Map<string, PgErrorClass>([
  ["40001", "serialization"],
  ["40P01", "serialization"], // deadlock: the victim may simply try again
  ["23505", "unique"],
  ["23514", "check"],
  ["53100", "disk_full"],
  ["25006", "read_only"],
  ["53300", "too_many_connections"],
  ["57014", "cancelled"], // statement_timeout, or cancelled by an operator
  ["25P03", "cancelled"], // idle_in_transaction_session_timeout
  ["25P04", "cancelled"], // transaction_timeout
  ["57P01", "transient_connection"], // the server shuts down
  ["57P02", "transient_connection"], // the server crashed
  ["57P03", "transient_connection"], // the server starts up
  ["57P04", "transient_connection"], // the database was dropped
  ["57P05", "transient_connection"], // idle_session_timeout
]);

/** Codes of node's sockets and resolver that mean: no connection, now. */
const systemCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
]);

/** After these the server closes the connection, or the connection leads to a server that no longer takes writes. */
const endings: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04", "25006"]);

export function endsConnection(sqlState: string): boolean {
  return endings.has(sqlState) || sqlState.startsWith("08");
}

/** The SQLSTATE of an error from the server, looking through errors that wrap it. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !systemCodes.has(code)) return code;
  return error instanceof Error && error.cause !== undefined ? sqlStateOf(error.cause) : undefined;
}

export function classifyPgError(error: unknown): PgErrorClass {
  if (error instanceof ConnectionLost) return "transient_connection";
  const code = codeOf(error);
  if (code !== undefined && systemCodes.has(code)) return "transient_connection";
  const sqlState = sqlStateOf(error);
  if (sqlState !== undefined) {
    return bySqlState.get(sqlState) ?? (sqlState.startsWith("08") ? "transient_connection" : "other");
  }
  return error instanceof Error && error.cause !== undefined ? classifyPgError(error.cause) : "other";
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
