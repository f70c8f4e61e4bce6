/** How many of the shards this node should own: an even spread, the remainder to the first nodes by id. */
export function quotaOf(shards: number, sharing: readonly string[], nodeId: string): number {
  const place = placeOf(sharing, nodeId);
  if (place === -1) return 0;
  const base = Math.floor(shards / sharing.length);
  return base + (place < shards % sharing.length ? 1 : 0);
}

/**
 * The order in which a node takes free shards: nodes begin at different places, so that those who notice a death at the
 * same moment do not all reach for the same shards.
 */
export function inOwnOrder<Shard>(free: readonly Shard[], sharing: readonly string[], nodeId: string): Shard[] {
  const start = Math.floor((Math.max(0, placeOf(sharing, nodeId)) * free.length) / Math.max(1, sharing.length));
  return [...free.slice(start), ...free.slice(0, start)];
}

function placeOf(sharing: readonly string[], nodeId: string): number {
  return [...sharing].sort().indexOf(nodeId);
}
