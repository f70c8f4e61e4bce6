import { Type, type Static } from "typebox";
import { NextPageToken } from "./paging.js";
import { Count, Milliseconds, Timestamp } from "./scalars.js";
import { nullable } from "./string-enum.js";
import { TaskDefaults } from "./task-defaults.js";

export const TaskInfo = Type.Object(
  {
    name: Type.String({ examples: ["email.welcome"] }),
    workers: Count("That are given runs of it"),
    slots: Count("Of these workers together"),
    queues: Type.Array(Type.String(), { description: "From which they take it; * stands for every queue" }),
    has_jobs: Type.Boolean({ description: "Some job names it" }),
    defaults: nullable(
      Type.Unsafe<TaskDefaults>({
        ...TaskDefaults,
        description: "What a worker said about its runs: taken where a request for a run or a job does not say it",
      }),
    ),
    expected_ms: nullable(Type.Number({ description: "How long a run takes, where a queue is ordered by that" })),
  },
  {
    title: "Task",
    additionalProperties: false,
    description: "A task that some worker serves or has said something about, some job names, or some finished run had",
  },
);

export const TaskInfoList = Type.Object(
  { tasks: Type.Array(TaskInfo), next_page_token: NextPageToken },
  { title: "TaskList", additionalProperties: false },
);

const ClusterNode = Type.Object(
  {
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
  },
  { title: "ClusterNode", additionalProperties: false },
);

const ClusterShard = Type.Object(
  {
    id: Type.Integer(),
    node_id: nullable(Type.String({ description: "Its owner; null while nobody has it" })),
    epoch: Type.Integer({ description: "Grows whenever it changes hands; what an older owner writes is refused" }),
  },
  { title: "ClusterShard", additionalProperties: false },
);

export const Cluster = Type.Object(
  {
    nodes: Type.Array(ClusterNode, { description: "The oldest first" }),
    shards: Type.Object(
      { total: Count("Shards in all"), owned: Count("That some node owns") },
      { additionalProperties: false },
    ),
  },
  { title: "Cluster", additionalProperties: false },
);

export const ClusterShards = Type.Object(
  { shards: Type.Array(ClusterShard) },
  { title: "ClusterShards", additionalProperties: false },
);

export type TaskInfo = Static<typeof TaskInfo>;
export type TaskInfoList = Static<typeof TaskInfoList>;
export type Cluster = Static<typeof Cluster>;
export type ClusterShards = Static<typeof ClusterShards>;
