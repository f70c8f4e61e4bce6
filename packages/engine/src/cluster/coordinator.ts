import type { DurationMs } from "@carillon/core";
import type { HeldShard } from "@carillon/store";
import type { Membership } from "../context.js";

/** Over a map that may change: its shards are those of the moment. */
export function membershipOf(nodeId: string, epochs: ReadonlyMap<number, number>): Membership {
  return {
    nodeId,
    epochs,
    get shards() {
      return [...epochs.keys()];
    },
  };
}

/** What changed since the last pass that succeeded. A shard that came back under a new epoch is in both lists. */
export interface ShardChange {
  readonly gained: readonly HeldShard[];
  readonly lost: readonly number[];
}

/**
 * Says which shards this node works on. Only an economy: two nodes that believe to own the same shard do no harm,
 * because every write for a shard compares owner and epoch in the statement that does it.
 */
export interface Coordinator {
  /** Makes the node known and takes what is free. */
  join(): Promise<ShardChange>;
  /** One pass: says that the node lives, watches the others, takes and gives shards. */
  tick(): Promise<ShardChange>;
  /** Hands every shard over before the node goes. */
  leave(): Promise<void>;
  readonly membership: Membership;
  /** After how long the next pass is due, at the latest. */
  readonly idleMs: DurationMs;
}
