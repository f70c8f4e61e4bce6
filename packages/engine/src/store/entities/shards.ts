import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface ShardRow {
  readonly id: number;
  readonly owner: string | null;
  readonly epoch: number;
}

/** A shard as its owner holds it: what every write for it must match. */
export interface HeldShard {
  readonly id: number;
  readonly epoch: number;
}

export interface ShardStore {
  list(): Promise<ShardRow[]>;
  /** Answers only the shards whose epoch was still as seen. */
  take(owner: string, seen: readonly HeldShard[]): Promise<HeldShard[]>;
  /** Gives up some shards; answers those that were given up. */
  drop(owner: string, shards: readonly number[]): Promise<number[]>;
  release(owner: string): Promise<number>;
}

export function shardStore(db: Queryable, statements: Statements): ShardStore {
  const list = statements.get("shard.list");
  const take = statements.get("shard.take");
  const drop = statements.get("shard.drop");
  const release = statements.get("shard.release");
  return {
    async list() {
      return (await db.query<ShardRow>(list)).rows;
    },
    async take(owner, seen) {
      const values = [owner, seen.map((shard) => shard.id), seen.map((shard) => shard.epoch)];
      return (await db.query<HeldShard>(take, values)).rows;
    },
    async drop(owner, shards) {
      return (await db.query<{ id: number }>(drop, [owner, shards])).rows.map((row) => row.id);
    },
    async release(owner) {
      return (await db.query(release, [owner])).rowCount;
    },
  };
}
