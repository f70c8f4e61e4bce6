import { type Static, Type } from "typebox";
import { closed, Count, Milliseconds, nullable, object, Text, Timestamp } from "../fields.js";
import { singleAnswer, type Operation } from "../operation.js";

const ClusterNode = object("ClusterNode", {
  id: Type.String({ examples: ["node_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  name: Type.String(),
  address: nullable(Type.String()),
  version: Type.String(),
  started_at: Timestamp,
  heartbeat_at: Timestamp,
  level: Type.Integer({ description: "The feature level that its version supports" }),
  silent_ms: Milliseconds("Time since its last heartbeat, by the clock of the database"),
  skew_ms: Milliseconds("Its clock minus the clock of the database"),
  takes_shards: Type.Boolean({ description: "False for a node that is unhealthy or shuts down" }),
  shards: Count("Shards that it owns"),
});

const ClusterShard = object("ClusterShard", {
  id: Type.Integer(),
  node_id: nullable(Text("The node that owns it; null while it has no owner")),
  epoch: Type.Integer({
    description: "Increases with every change of the owner; writes of an earlier owner are refused",
  }),
});

export const Cluster = object("Cluster", {
  level: closed({
    in_use: Type.Integer({
      description: "The feature level that the cluster uses: the lowest that one of its nodes supports",
    }),
    supported: Type.Integer({ description: "The feature level of the version of the node that answers" }),
    held_back_by: Type.Array(Text("A node of an older version, because of which features stay unused")),
  }),
  nodes: Type.Array(ClusterNode, { description: "Oldest first" }),
  shards: closed({ total: Count("All shards"), owned: Count("Shards that have an owner") }),
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
  summary: "List the nodes of the cluster",
  description: "Includes their leases, the skew of their clocks, and the number of shards of each.",
  permission: "cluster:read",
  ...singleAnswer(Cluster, "The cluster, as the database has it now"),
} as const satisfies Operation;

export const listClusterShards = {
  ...reads,
  path: "/v1/cluster/shards",
  tag: "Cluster",
  summary: "List the shards and their owners",
  permission: "cluster:read",
  ...singleAnswer(ClusterShards, "All shards"),
} as const satisfies Operation;
