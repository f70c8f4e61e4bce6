import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

export interface ShardRow {
  readonly id: number;
  readonly owner: string | null;
  readonly epoch: number;
}

/** A shard with the epoch under which its owner holds it. */
export interface HeldShard {
  readonly id: number;
  readonly epoch: number;
}

/** The database's timeline now, and the one in which the shards were last owned. */
export interface TimelineRow {
  readonly timeline: string;
  /** How many bytes of log are on disk; it decreases only if the database was restored to an earlier state. */
  readonly flushed: string;
  readonly remembered: string | null;
  /** The high part of fences: another value means that sessions, claims and revisions of before are void. */
  readonly fences: number;
}

/** A timeline in which the shards were not last owned, as read. */
export type OtherTimeline = Pick<TimelineRow, "timeline" | "fences"> & { readonly remembered: string };

export interface ShardStore {
  list(): Promise<ShardRow[]>;
  /** Differs after every change of a row. */
  moves(): Promise<string>;
  /** Returns only the shards whose epoch was still as seen. */
  take(owner: string, seen: readonly HeldShard[]): Promise<HeldShard[]>;
  /** Gives up some shards; returns those that were given up. */
  drop(owner: string, shards: readonly number[]): Promise<number[]>;
  release(owner: string): Promise<number>;
  timeline(): Promise<TimelineRow>;
  rememberTimeline(timeline: string): Promise<void>;
  /**
   * Takes every shard from its owner and removes every node and every worker session, unless another node did so first; epochs, revisions
   * and fences jump, the fences first, beyond those that the caller knows.
   */
  voidAll(seen: OtherTimeline, knownFences: number): Promise<boolean>;
}

export function shardStore(db: Queryable, statements: Statements): ShardStore {
  const list = statements.get("shard.list");
  const fingerprint = statements.get("shard.fingerprint");
  const take = statements.get("shard.take");
  const drop = statements.get("shard.drop");
  const release = statements.get("shard.release");
  const timeline = statements.get("shard.timeline");
  const rememberTimeline = statements.get("shard.remember_timeline");
  const raiseFences = statements.get("shard.raise_fences");
  const voidAll = statements.get("shard.void_all");
  return {
    async list() {
      return (await db.query<ShardRow>(list)).rows;
    },
    async moves() {
      return (await db.query<{ fingerprint: string }>(fingerprint)).rows[0]?.fingerprint ?? "";
    },
    async take(owner, seen) {
      const values = take.values({
        owner,
        shards: seen.map((shard) => shard.id),
        epochs: seen.map((shard) => shard.epoch),
      });
      return (await db.query<HeldShard>(take, values)).rows;
    },
    async drop(owner, shards) {
      return (await db.query<{ id: number }>(drop, drop.values({ owner, shards }))).rows.map((row) => row.id);
    },
    async release(owner) {
      return (await db.query(release, release.values({ owner }))).rowCount;
    },
    async timeline() {
      const [row] = (await db.query<TimelineRow>(timeline)).rows;
      if (row === undefined) throw new Error("The database returned no timeline.");
      return row;
    },
    async rememberTimeline(value) {
      await db.query(rememberTimeline, rememberTimeline.values({ timeline: value }));
    },
    async voidAll({ timeline: value, remembered, fences: seenFences }, knownFences) {
      await db.query(raiseFences, raiseFences.values({ remembered, seenFences, knownFences }));
      const values = voidAll.values({ timeline: value, remembered, seenFences });
      return (await db.query(voidAll, values)).rowCount > 0;
    },
  };
}

/** The writing node, and the shards with the epochs under which it owns them; every write for a shard compares them with the rows. */
export interface Fence {
  readonly node: string;
  readonly shards: readonly HeldShard[];
}

/** The parameters of the part `shard.owned`, which every fenced statement has. */
export function fenceValues({ node, shards }: Fence): { shards: number[]; epochs: number[]; node: string } {
  return { shards: shards.map((shard) => shard.id), epochs: shards.map((shard) => shard.epoch), node };
}
