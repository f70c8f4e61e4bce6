import type { Fence } from "@carillon/store";
import type { Membership } from "../context.js";

/** Who this node is for these rows. Rows of a shard that it no longer owns match no fence. */
export function fenceOf({ nodeId, epochs }: Membership, rows: readonly { readonly shard: number }[]): Fence {
  const shards = [...new Set(rows.map((row) => row.shard))].flatMap((id) => {
    const epoch = epochs.get(id);
    return epoch === undefined ? [] : [{ id, epoch }];
  });
  return { node: nodeId, shards };
}
