import { ClusterMember, type MemberOptions } from "../cluster-member.js";
import type { Coordinator } from "../port.js";
import { EtcdRegistry, type EtcdRegistryOptions } from "./etcd-registry.js";

/** Membership and promises in etcd; the fence stays in PostgreSQL. */
export function etcdCoordinator(options: MemberOptions & EtcdRegistryOptions): Coordinator {
  return new ClusterMember(options, new EtcdRegistry(options));
}
