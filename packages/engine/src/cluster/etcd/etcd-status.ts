import { askEtcd, type EtcdRequestOptions } from "./etcd-request.js";
import { field, text } from "./json.js";

/** What one endpoint says of itself. */
export interface EtcdStatus {
  readonly version: string;
  /** Endpoints of one cluster have the same. */
  readonly clusterId: string;
  /** false: it is cut from the majority of its cluster, and neither reads nor writes. */
  readonly hasLeader: boolean;
}

/** Throws what kept it from answering. */
export async function etcdStatus(endpoint: string, options: EtcdRequestOptions): Promise<EtcdStatus> {
  const status = await askEtcd(`${endpoint}/v3/maintenance/status`, {}, options);
  return {
    version: text(field(status, "version")),
    clusterId: text(field(field(status, "header"), "cluster_id")),
    hasLeader: text(field(status, "leader", "0")) !== "0",
  };
}
