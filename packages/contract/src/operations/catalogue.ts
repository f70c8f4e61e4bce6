import { Type } from "typebox";
import { Cluster, ClusterShards, TaskInfo, TaskInfoList } from "../schema/catalogue.js";
import { PageQuery } from "../schema/job-history.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { method: "GET", rateClass: "read" } as const;

export const listTasks = {
  ...reads,
  path: "/v1/tasks",
  tag: "Tasks",
  summary: "List tasks by name",
  description: "Those that workers serve or said something about, that jobs name, and that finished runs had.",
  permission: "jobs:read",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: TaskInfoList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getTask = {
  ...reads,
  path: "/v1/tasks/{name}",
  tag: "Tasks",
  summary: "Get a task",
  permission: "jobs:read",
  params: Type.Object({ name: Type.String({ examples: ["email.welcome"] }) }),
  answers: { 200: { description: "The task", schema: TaskInfo } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const getCluster = {
  ...reads,
  path: "/v1/cluster",
  tag: "Cluster",
  summary: "Show the nodes of the cluster",
  description: "With their leases, the skew of their clocks, and how many shards each owns.",
  permission: "cluster:read",
  answers: { 200: { description: "As the database knows it now", schema: Cluster } },
  errors: [...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const listClusterShards = {
  ...reads,
  path: "/v1/cluster/shards",
  tag: "Cluster",
  summary: "Show who owns which shard",
  permission: "cluster:read",
  answers: { 200: { description: "All of them", schema: ClusterShards } },
  errors: [...queryErrors, ...storeErrors],
} as const satisfies Operation;
