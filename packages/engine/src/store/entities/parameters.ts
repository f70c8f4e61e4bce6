import type { Instant } from "@carillon/core";
import { jsonParam, timestampParam } from "../db/params.js";

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestampParam(instant);
}

/** Absent members and empty objects are stored as null: most runs have no labels and no policy of their own. */
export function jsonOrNull(value: object | undefined): string | null {
  return value === undefined || Object.keys(value).length === 0 ? null : jsonParam(value);
}

/** Rows to one array per column, which is what `unnest` takes. */
export function columns<Row>(rows: readonly Row[], pick: ReadonlyArray<(row: Row) => unknown>): unknown[][] {
  return pick.map((of) => rows.map(of));
}
