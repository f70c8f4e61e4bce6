import type { Instant } from "@carillon/core";
import { type Fence, fenceValues } from "../cluster/shard-store.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";

/** The due time from which a shard has, or may have, runs to promote. */
export interface ShardFrom {
  readonly shard: number;
  readonly from: Instant;
}

export interface FarFutureRun extends Queued {
  readonly shard: number;
  readonly runAt: Instant;
  readonly state: "queued" | "scheduled";
}

/** One-off jobs far from their time. A row moves from here to the hot table and never back, so a reader of one such run reads here first. */
export interface FarFutureStore {
  /** The shards with runs that are due before `until`, each with its first due time. */
  scan(shards: readonly ShardFrom[], until: Instant): Promise<ShardFrom[]>;
  /** Moves the first runs of the fence's shards, at most `limit` of each, from the due time in `from` on. */
  promote(fence: Fence, from: ReadonlyMap<number, Instant>, until: Instant, limit: number): Promise<FarFutureRun[]>;
}

export function farFutureStore(db: Queryable, statements: Statements): FarFutureStore {
  const scan = statements.get("far_future.scan");
  const promote = statements.get("far_future.promote");
  return {
    async scan(shards, until) {
      const values = scan.values({
        shards: shards.map((one) => one.shard),
        startsAt: shards.map((one) => timestampParam(one.from)),
        until: timestampParam(until),
      });
      const { rows } = await db.query<{ shard: number; run_at: Instant }>(scan, values);
      return rows.map((row) => ({ shard: row.shard, from: row.run_at }));
    },
    async promote(fence, from, until, limit) {
      const values = promote.values({
        ...fenceValues(fence),
        startsAt: fence.shards.map((shard) => timestampParam(from.get(shard.id) ?? 0)),
        until: timestampParam(until),
        limitPerShard: limit,
      });
      const { rows } = await db.query<Omit<FarFutureRun, "runAt"> & { run_at: Instant }>(promote, values);
      return rows.map(({ run_at: runAt, ...row }) => ({ ...row, runAt }));
    },
  };
}
