import { type Static, Type } from "typebox";
import { described, Count, nullable, object } from "../fields.js";
import { type Operation, getErrors, listErrors } from "../operation.js";
import { PageQuery, pageOf } from "../paging.js";
import { TaskDefaults } from "./task-defaults.js";

export const TaskInfo = object(
  "Task",
  {
    name: Type.String({ examples: ["email.welcome"] }),
    workers: Count("That are given runs of it"),
    slots: Count("Of these workers together"),
    queues: Type.Array(Type.String(), { description: "From which they take it; * stands for every queue" }),
    has_jobs: Type.Boolean({ description: "Some job names it" }),
    defaults: nullable(
      described(
        TaskDefaults,
        "What a worker said about its runs: taken where a request for a run or a job does not say it",
      ),
    ),
    expected_ms: nullable(Type.Number({ description: "How long a run takes, where a queue is ordered by that" })),
  },
  {
    description: "A task that some worker serves or has said something about, some job names, or some finished run had",
  },
);
export type TaskInfo = Static<typeof TaskInfo>;

export const TaskInfoList = pageOf("TaskList", { tasks: Type.Array(TaskInfo) });
export type TaskInfoList = Static<typeof TaskInfoList>;

const reads = { method: "GET", rateClass: "read" } as const;

export const listTasks = {
  ...reads,
  path: "/v1/tasks",
  tag: "Tasks",
  client: "tasks.list",
  summary: "List tasks by name",
  description: "Those that workers serve or said something about, that jobs name, and that finished runs had.",
  permission: "jobs:read",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: TaskInfoList } },
  errors: listErrors,
} as const satisfies Operation;

export const getTask = {
  ...reads,
  path: "/v1/tasks/{name}",
  tag: "Tasks",
  client: "tasks.get",
  summary: "Get a task",
  permission: "jobs:read",
  params: Type.Object({ name: Type.String({ examples: ["email.welcome"] }) }),
  answers: { 200: { description: "The task", schema: TaskInfo } },
  errors: getErrors,
} as const satisfies Operation;
