import { CarillonError } from "@carillon/core";
import { classifyPgError, type PgErrorClass, sqlStateOf } from "./classify.js";

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

/** Whether a batch failed because of what is in it, so that a part of it may succeed. */
export function isFaultOfRows(error: unknown): boolean {
  if (error instanceof CarillonError || ofTheDatabase.has(classifyPgError(error))) return false;
  const state = sqlStateOf(error);
  return state === undefined || ofData.has(state.slice(0, 2));
}
