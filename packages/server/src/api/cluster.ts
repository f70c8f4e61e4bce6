import type { Cluster, ClusterShards } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ClusterView, ShardView } from "@carillon/engine";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { timestamp } from "./timestamp.js";

export function clusterHandlers({ engine }: ApiOptions) {
  return handlers({
    async getCluster() {
      return ok(toClusterJson(await engine.cluster.get()));
    },
    async listClusterShards() {
      const { shards } = await engine.cluster.get();
      return ok({ shards: shards.map(toShardJson) });
    },
  });
}

function toClusterJson({ nodes, shards }: ClusterView): Cluster {
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

function toShardJson({ id, owner, epoch }: ShardView): ClusterShards["shards"][number] {
  return { id, node_id: owner === null ? null : formatId("node", owner), epoch };
}
