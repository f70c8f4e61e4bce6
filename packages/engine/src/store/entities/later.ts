import type { Instant, RunPolicy } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type Fence, fenceParameters } from "./fence.js";
import type { RunRow } from "./run-reads.js";
import type { Queued } from "./runs.js";

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

/** A run as it lay in run_later, for whoever puts it elsewhere in the same transaction. */
export interface TakenRun {
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly priority: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly createdAt: Instant;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly owner: string | null;
}

/**
 * One-off jobs far from their time. A run goes from here to the hot table and never back: who looks for one asks here first.
 */
export interface LaterStore {
  /** The shards that have something due before `until`, each with its first due time. */
  look(shards: readonly ShardFrom[], until: Instant): Promise<ShardFrom[]>;
  /** Moves the first runs of the fence's shards, at most `limit` of each, starting where `from` says. */
  move(fence: Fence, from: ReadonlyMap<number, Instant>, until: Instant, limit: number): Promise<MovedRun[]>;
  find(namespaceId: number, ids: readonly string[]): Promise<RunRow[]>;
  /** Removes runs and answers them as they were; one that is just being moved is not answered, and is in `run` afterwards. */
  take(namespaceId: number, ids: readonly string[]): Promise<TakenRun[]>;
}

export function laterStore(db: Queryable, statements: Statements): LaterStore {
  const look = statements.get("later.look");
  const move = statements.get("later.move");
  const find = statements.get("later.find");
  const take = statements.get("later.take");
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
    async find(namespaceId, ids) {
      return (await db.query<RunRow>(find, [namespaceId, ids])).rows;
    },
    async take(namespaceId, ids) {
      return (await db.query<TakenRow>(take, [namespaceId, ids])).rows.map(toTakenRun);
    },
  };
}

interface MovedRow extends Queued {
  readonly shard: number;
  readonly run_at: Instant;
  readonly state: "queued" | "scheduled";
}

interface TakenRow extends Omit<TakenRun, "namespaceId" | "runAt" | "createdAt"> {
  readonly namespace_id: number;
  readonly run_at: Instant;
  readonly created_at: Instant;
}

function toTakenRun({ namespace_id: namespaceId, run_at: runAt, created_at: createdAt, ...row }: TakenRow): TakenRun {
  return { ...row, namespaceId, runAt, createdAt };
}
