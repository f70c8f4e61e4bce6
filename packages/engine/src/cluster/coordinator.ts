import type { DurationMs } from "@carillon/core";
import type { Fence, HeldShard } from "@carillon/store";
import type { Membership } from "../context.js";

/** A view of a map that may change: reading `shards` reads the map. */
export function membershipOf(nodeId: string, epochs: ReadonlyMap<number, number>): Membership {
  return {
    nodeId,
    epochs,
    get shards() {
      return [...epochs.keys()];
    },
  };
}

/** The difference to the last pass that succeeded. A shard that returned under a new epoch is in both lists. */
export interface ShardChange {
  readonly gained: readonly HeldShard[];
  readonly lost: readonly number[];
}

/**
 * Decides which shards this node works on. Only an economy: two nodes that both believe to own a shard do no harm,
 * because every write for a shard compares owner and epoch in its statement.
 */
export interface Coordinator {
  /** Registers the node and takes free shards. */
  join(): Promise<ShardChange>;
  /** One pass: sends the node's heartbeat, checks the other nodes, takes and gives up shards. */
  tick(): Promise<ShardChange>;
  /** Releases every shard before the node stops. */
  leave(): Promise<void>;
  readonly membership: Membership;
  /** After how long the next pass is due, at the latest. */
  readonly idleMs: DurationMs;
}

/** Who this node is for these rows. Rows of a shard that it no longer owns match no fence. */
export function fenceOf({ nodeId, epochs }: Membership, rows: readonly { readonly shard: number }[]): Fence {
  const shards = [...new Set(rows.map((row) => row.shard))].flatMap((id) => {
    const epoch = epochs.get(id);
    return epoch === undefined ? [] : [{ id, epoch }];
  });
  return { node: nodeId, shards };
}
