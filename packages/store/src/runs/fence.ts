import type { HeldShard } from "../cluster/shard-store.js";

/** What every write for a shard must match: who writes, and the shards with the epochs under which it owns them. */
export interface Fence {
  readonly node: string;
  readonly shards: readonly HeldShard[];
}

/** The first three parameters of every fenced statement. */
export function fenceParameters(fence: Fence): unknown[] {
  return [fence.shards.map((shard) => shard.id), fence.shards.map((shard) => shard.epoch), fence.node];
}
