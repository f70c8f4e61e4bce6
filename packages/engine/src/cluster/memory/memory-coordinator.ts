import { ClusterMember, type MemberOptions } from "../member/cluster-member.js";
import type { Coordinator } from "../coordinator.js";
import { RowRegistry } from "../member/row-registry.js";
import type { MemoryCluster } from "./memory-cluster.js";

/** The twin in memory: the same rules as over PostgreSQL, on rows that live in this process. */
export function memoryCoordinator(options: MemberOptions, cluster: MemoryCluster): Coordinator {
  const { nodes, shards } = cluster;
  const lock = cluster.lock();
  const registry = new RowRegistry({ ...options, nodes, shards, lock, alone: false, wake: () => undefined });
  return new ClusterMember(options, registry);
}
