import type { Cluster, ClusterShards, TaskInfo } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ClusterView, ShardView, TaskView } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

export function wireTask({ name, workers, slots, queues, hasJobs, expectedMs, defaults }: TaskView): TaskInfo {
  return {
    name,
    workers,
    slots,
    queues: [...queues],
    has_jobs: hasJobs,
    defaults,
    expected_ms: expectedMs,
  };
}

export function wireCluster({ nodes, shards }: ClusterView): Cluster {
  return {
    nodes: nodes.map((node) => ({
      id: formatId("node", node.id),
      name: node.name,
      address: node.address,
      version: node.version,
      started_at: timestamp(node.startedAt),
      heartbeat_at: timestamp(node.heartbeatAt),
      silent_ms: node.silentMs,
      skew_ms: node.skewMs,
      takes_shards: node.takesShards,
      shards: node.shards,
    })),
    shards: { total: shards.length, owned: shards.filter((shard) => shard.owner !== null).length },
  };
}

export function wireShard({ id, owner, epoch }: ShardView): ClusterShards["shards"][number] {
  return { id, node_id: owner === null ? null : formatId("node", owner), epoch };
}
