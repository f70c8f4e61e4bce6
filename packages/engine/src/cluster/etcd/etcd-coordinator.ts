import { ClusterMember, type MemberOptions } from "../member/cluster-member.js";
import type { Coordinator } from "../coordinator.js";
import { EtcdRegistry, type EtcdRegistryOptions } from "./etcd-registry.js";

/** Membership and promises in etcd; the fence stays in PostgreSQL. */
export function etcdCoordinator(options: MemberOptions & EtcdRegistryOptions): Coordinator {
  return new ClusterMember(options, new EtcdRegistry(options));
}
