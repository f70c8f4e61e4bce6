import type { Instant } from "@carillon/core";

/** The first of some rows by their time, as `order by … limit` answers them. */
export function nearest<Row>(rows: readonly Row[], timeOf: (row: Row) => Instant, limit: number): Row[] {
  return rows.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(0, limit);
}
