/** The shard of a job or of a run that stands alone: the last bits of its id, which are random in every UUID we make. */
export function shardOf(uuid: string, shards: number): number {
  return Number.parseInt(uuid.slice(-6), 16) % shards;
}
