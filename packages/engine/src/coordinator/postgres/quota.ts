/** How many of the shards this node should own: an even spread, the remainder to the first nodes by id. */
export function quotaOf(shards: number, alive: readonly string[], nodeId: string): number {
  const sorted = [...new Set([...alive, nodeId])].sort();
  const base = Math.floor(shards / sorted.length);
  return base + (sorted.indexOf(nodeId) < shards % sorted.length ? 1 : 0);
}
