import { ClusterMember, type MemberOptions } from "../member/cluster-member.js";
import type { Coordinator } from "../coordinator.js";
import { RowRegistry, type RowRegistryOptions } from "../member/row-registry.js";

/** Membership and ownership in the same PostgreSQL that holds the work. */
export function postgresCoordinator(options: MemberOptions & RowRegistryOptions): Coordinator {
  return new ClusterMember(options, new RowRegistry(options));
}
