import { type Static, Type } from "typebox";
import { Count, Milliseconds, nullable, Timestamp, object, closed } from "../fields.js";
import { type Operation, getErrors } from "../operation.js";

const ClusterNode = object("ClusterNode", {
  id: Type.String({ examples: ["node_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  name: Type.String(),
  address: nullable(Type.String()),
  version: Type.String(),
  started_at: Timestamp,
  heartbeat_at: Timestamp,
  silent_ms: Milliseconds("Since its last heartbeat, by the database's clock"),
  skew_ms: Milliseconds("Its clock minus the database's"),
  takes_shards: Type.Boolean({ description: "False: it is not well, or it leaves" }),
  shards: Count("That it owns"),
});

const ClusterShard = object("ClusterShard", {
  id: Type.Integer(),
  node_id: nullable(Type.String({ description: "Its owner; null while nobody has it" })),
  epoch: Type.Integer({ description: "Grows whenever it changes hands; what an older owner writes is refused" }),
});

export const Cluster = object("Cluster", {
  nodes: Type.Array(ClusterNode, { description: "The oldest first" }),
  shards: closed({ total: Count("Shards in all"), owned: Count("That some node owns") }),
});
export type Cluster = Static<typeof Cluster>;

export const ClusterShards = object("ClusterShards", { shards: Type.Array(ClusterShard) });
export type ClusterShards = Static<typeof ClusterShards>;

const reads = { method: "GET", rateClass: "read" } as const;

export const getCluster = {
  ...reads,
  path: "/v1/cluster",
  tag: "Cluster",
  client: "cluster",
  summary: "Show the nodes of the cluster",
  description: "With their leases, the skew of their clocks, and how many shards each owns.",
  permission: "cluster:read",
  answers: { 200: { description: "As the database knows it now", schema: Cluster } },
  errors: getErrors,
} as const satisfies Operation;

export const listClusterShards = {
  ...reads,
  path: "/v1/cluster/shards",
  tag: "Cluster",
  summary: "Show who owns which shard",
  permission: "cluster:read",
  answers: { 200: { description: "All of them", schema: ClusterShards } },
  errors: getErrors,
} as const satisfies Operation;
