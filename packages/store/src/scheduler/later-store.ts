import type { Instant } from "@carillon/core";
import { type Fence, fenceParameters } from "../cluster/shard-store.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";

/** Where runs of a shard may be found that have to move. */
export interface ShardFrom {
  readonly shard: number;
  readonly from: Instant;
}

export interface MovedRun extends Queued {
  readonly shard: number;
  readonly runAt: Instant;
  readonly state: "queued" | "scheduled";
}

/**
 * One-off jobs far from their time. A run goes from here to the hot table and never back: who looks for one asks here first.
 */
export interface LaterStore {
  /** The shards that have something due before `until`, each with its first due time. */
  look(shards: readonly ShardFrom[], until: Instant): Promise<ShardFrom[]>;
  /** Moves the first runs of the fence's shards, at most `limit` of each, starting where `from` says. */
  move(fence: Fence, from: ReadonlyMap<number, Instant>, until: Instant, limit: number): Promise<MovedRun[]>;
}

export function laterStore(db: Queryable, statements: Statements): LaterStore {
  const look = statements.get("later.look");
  const move = statements.get("later.move");
  return {
    async look(shards, until) {
      const values = [shards.map((one) => one.shard), shards.map((one) => timestampParam(one.from))];
      const { rows } = await db.query<{ shard: number; run_at: Instant }>(look, [...values, timestampParam(until)]);
      return rows.map((row) => ({ shard: row.shard, from: row.run_at }));
    },
    async move(fence, from, until, limit) {
      const starts = fence.shards.map((shard) => timestampParam(from.get(shard.id) ?? 0));
      const values = [...fenceParameters(fence), starts, timestampParam(until), limit];
      return (await db.query<MovedRow>(move, values)).rows.map(({ run_at: runAt, ...row }) => ({ ...row, runAt }));
    },
  };
}

interface MovedRow extends Queued {
  readonly shard: number;
  readonly run_at: Instant;
  readonly state: "queued" | "scheduled";
}
