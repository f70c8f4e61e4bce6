import { CarillonError } from "@carillon/core";
import { classifyPgError, type PgErrorClass } from "./classify.js";

const unavailable: Readonly<Partial<Record<PgErrorClass, string>>> = {
  transient_connection: "The connection to the database failed",
  read_only: "The database is read-only (a standby, or set so)",
  too_many_connections: "The database has no connection left: raise max_connections or lower the pool size",
  disk_full: "The database's disk is full",
};

/** An error as the store's callers see it: what stops every call becomes database_unavailable, the rest stays itself. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof CarillonError) return error;
  const kind = classifyPgError(error);
  const detail = error instanceof Error ? error.message : String(error);
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
