import type { DurationMs } from "@carillon/core";
import type { HeldShard, NodeReport } from "@carillon/store";

export interface Member {
  readonly id: string;
  readonly name: string;
  /** false: its clock is off, and it leaves the shards to the others. */
  readonly takesShards: boolean;
}

/** A shard as the registry shows it to one node. */
export interface ShardView {
  readonly id: number;
  readonly epoch: number;
  /** Who may act on it by the fence in the database; null when nobody may. */
  readonly owner: string | null;
  /** Who it is promised to where that is decided elsewhere than in the database; otherwise the owner. */
  readonly promisedTo: string | null;
}

/** Where membership and ownership are kept. The rules of sharing (ClusterMember) are the same over each. */
export interface Registry {
  announce(nodeId: string, report: NodeReport): Promise<void>;
  /** false: this incarnation was declared dead. */
  renew(nodeId: string, report: NodeReport): Promise<boolean>;
  /** The same array for as long as nothing is known to have moved. */
  shards(): Promise<readonly ShardView[]>;
  /** The living, this node included, after whoever is known to be dead was removed. */
  members(nodeId: string): Promise<Member[]>;
  /** Answers only the shards that this node won, with their new epochs. */
  take(nodeId: string, seen: readonly HeldShard[]): Promise<HeldShard[]>;
  drop(nodeId: string, shards: readonly number[]): Promise<void>;
  leave(nodeId: string): Promise<void>;
  /** A pass failed: what was observed before proves nothing any more. */
  forget(): void;
  /** How soon another look is worth it, when something waits to be confirmed. */
  readonly nextLookMs: DurationMs | null;
  /** When this node last saw a sign of life of another, on its monotonic clock. */
  lastSignOf(nodeId: string): DurationMs | undefined;
}
