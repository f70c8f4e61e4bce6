import type { FireRow } from "../../scheduler/fire-store.js";
import { uuidArray } from "../db/binary-arrays.js";
import { timestampParam } from "../db/params.js";
import { columns, timestampOrNull } from "./parameters.js";

/** Neighbours in a batch of which everything is the same but the ids; `first` and `last` count from 1. */
interface Group {
  readonly row: FireRow;
  readonly first: number;
  readonly last: number;
}

/**
 * The jobs of a fire as due.fire takes them. A herd has few different next times, and to read an instant costs PostgreSQL more
 * than to read an id: what is the same is said once for all that share it.
 */
export function fireColumns(rows: readonly FireRow[]): (string | Buffer)[] {
  const sorted = rows.toSorted(compare);
  return [
    ...columns(groupsOf(sorted), [
      (group) => group.first,
      (group) => group.last,
      ({ row }) => row.job.version,
      ({ row }) => timestampParam(row.job.nominal),
      ({ row }) => row.job.runsMade,
      ({ row }) => timestampOrNull(row.next?.nominal ?? null),
      ({ row }) => timestampOrNull(row.next?.fireAt ?? null),
      ({ row }) => timestampOrNull(row.catchUpTo),
      ({ row }) => row.rank,
    ]),
    uuidArray(sorted.map((row) => row.job.jobId)),
    uuidArray(sorted.map((row) => row.runId)),
  ];
}

function groupsOf(sorted: readonly FireRow[]): Group[] {
  const groups: Group[] = [];
  let start = 0;
  for (const [index, row] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && compare(row, next) === 0) continue;
    groups.push({ row, first: start + 1, last: index + 1 });
    start = index + 1;
  }
  return groups;
}

/** Zero for rows of one group. */
function compare(a: FireRow, b: FireRow): number {
  return (
    a.job.nominal - b.job.nominal ||
    (a.next?.fireAt ?? -1) - (b.next?.fireAt ?? -1) ||
    (a.next?.nominal ?? -1) - (b.next?.nominal ?? -1) ||
    a.rank - b.rank ||
    a.job.runsMade - b.job.runsMade ||
    a.job.version - b.job.version ||
    (a.catchUpTo ?? -1) - (b.catchUpTo ?? -1)
  );
}
