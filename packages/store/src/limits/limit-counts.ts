import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { LimitRow } from "./limit-rows.js";

/** Up to where lanes were looked through: all before this one, and of it all up to the rank. */
export interface LaneCursor {
  readonly lane: number;
  readonly rank: number;
}

/** Runs of one lane that were looked through. */
export interface CountedLane {
  readonly lane: number;
  /** The last one's rank; all runs of this rank were seen. */
  readonly rank: number;
  readonly seen: number;
  /** Those of them that are at work or admitted. */
  readonly runIds: readonly string[];
}

/** What counting asks of the store: who is at work already when a queue or a namespace gets a limit. */
export interface LimitCounts {
  /** A page of lanes of the limit's queue or namespace, each with its first runs after the cursor. */
  atWork(limit: LimitRow, after: LaneCursor, most: { lanes: number; ofEach: number }): Promise<CountedLane[]>;
  /** Those of the runs that are still at work hold the limit from now on; the caller's transaction has locked it. */
  count(tx: Queryable, limit: LimitRow, runIds: readonly string[]): Promise<void>;
}

export function limitCounts(db: Queryable, statements: Statements): LimitCounts {
  const [atWork, count] = [statements.get("limit.at_work"), statements.get("limit.count")];
  return {
    async atWork({ namespaceId, limit }, { lane, rank }, { lanes, ofEach }) {
      type Row = Omit<CountedLane, "runIds"> & { run_ids: readonly string[] | null };
      const queue = limit.scope === "queue" ? limit.name : null;
      const { rows } = await db.query<Row>(atWork, [namespaceId, queue, lane, rank, lanes, ofEach]);
      return rows.map(({ run_ids: runIds, ...row }) => ({ ...row, runIds: runIds ?? [] }));
    },
    async count(tx, { id, limit }, runIds) {
      await tx.query(count, [id, runIds, limit.kind === "rate"]);
    },
  };
}
