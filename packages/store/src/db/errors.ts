import { CarillonError } from "@carillon/core";

/** The kind of a failed statement, decided by SQLSTATE and system error code, never by the message. */
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
  ["40P01", "serialization"], // deadlock: the victim may try again
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

/** Codes of the sockets and the resolver of Node.js that mean: no connection at present. */
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

/**
 * Whether an error leaves open if its statement took effect. The server reports an error only of a statement that it has rolled back, except
 * for these codes; and a pooler sends the endings of connections, too, for statements that its server may have executed.
 */
export function leavesOutcomeOpen(sqlState: string, isDirect: boolean): boolean {
  return sqlState === "40003" || sqlState.startsWith("08") || (!isDirect && endings.has(sqlState));
}

export function endsConnection(sqlState: string): boolean {
  return endings.has(sqlState) || sqlState.startsWith("08");
}

/** The SQLSTATE of an error from the server, also if other errors wrap it. */
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

/** The connection ended, or did not respond in time, while it was needed. pg gives such errors no code, so they have a class. */
export class ConnectionLost extends Error {
  override readonly name: string = "ConnectionLost";

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }
}

/** A statement that writes was sent, and the connection ended before the response: it may or may not have taken effect. */
export class AnswerLost extends ConnectionLost {
  override readonly name = "AnswerLost";
}

const unavailable: Readonly<Partial<Record<PgErrorClass, string>>> = {
  transient_connection: "The connection to the database failed",
  read_only: "The database is read-only (a standby, or set so)",
  too_many_connections: "The database has no connection left: raise max_connections or lower the pool size",
  disk_full: "The database's disk is full",
};

/**
 * An error as callers of the store get it. One that affects every call becomes outcome_unknown if the statement may have taken effect, and
 * database_unavailable if it surely has not. Others stay as they are.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof CarillonError) return error;
  const kind = classifyPgError(error);
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof AnswerLost) {
    const message = `The connection to the database failed after a statement was sent, which may have taken effect: ${detail}`;
    return new CarillonError("outcome_unknown", message, { cause: error });
  }
  if (kind === "cancelled") {
    return new CarillonError("database_timeout", `The database was stopped before it answered: ${detail}`, {
      cause: error,
    });
  }
  const reason = unavailable[kind];
  return reason === undefined
    ? error
    : new CarillonError("database_unavailable", `${reason}: ${detail}`, { cause: error });
}

/** Whether the database could not be reached: the call surely did nothing, or its outcome is unknown. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof CarillonError && (error.code === "database_unavailable" || error.code === "outcome_unknown");
}

const ofTheDatabase: ReadonlySet<PgErrorClass> = new Set<PgErrorClass>([
  "transient_connection",
  "serialization",
  "read_only",
  "disk_full",
  "too_many_connections",
  "cancelled",
]);

/** Classes of SQLSTATE that one bad row can cause: data, constraints, limits, a trigger's refusal, a damaged row. */
const ofData: ReadonlySet<string> = new Set(["22", "23", "54", "P0", "XX"]);

/** Whether a batch failed because of one of its rows, so that a part of it may succeed. */
export function isFaultOfRows(error: unknown): boolean {
  if (error instanceof CarillonError || ofTheDatabase.has(classifyPgError(error))) return false;
  const state = sqlStateOf(error);
  return state === undefined || ofData.has(state.slice(0, 2));
}
