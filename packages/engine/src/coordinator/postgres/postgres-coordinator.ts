import { ClusterMember, type MemberOptions } from "../cluster-member.js";
import type { Coordinator } from "../port.js";
import { RowRegistry, type RowRegistryOptions } from "../row-registry.js";

/** Membership and ownership in the same PostgreSQL that holds the work. */
export function postgresCoordinator(options: MemberOptions & RowRegistryOptions): Coordinator {
  return new ClusterMember(options, new RowRegistry(options));
}
