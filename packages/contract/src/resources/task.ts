import { type Static, Type } from "typebox";
import { AnyName, Count, described, nullable, object } from "../fields.js";
import { type Operation, pageAnswer, singleAnswer } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import { TaskDefaults } from "./request-context.js";

export const TaskInfo = object(
  "Task",
  {
    name: Type.String({ examples: ["email.welcome"] }),
    workers: Count("Workers that get its runs"),
    slots: Count("Slots of these workers in total"),
    queues: Type.Array(Type.String(), { description: "Queues from which they take it; * stands for every queue" }),
    has_jobs: Type.Boolean({ description: "Whether a job names it" }),
    defaults: nullable(
      described(
        TaskDefaults,
        "The defaults that a worker registered: used for fields that a request for a run or a job leaves out",
      ),
    ),
    expected_ms: nullable(
      Type.Number({ description: "The expected duration of a run, where a queue is ordered by it" }),
    ),
  },
  {
    description: "A task that a worker serves or registered defaults for, that a job names, or that a finished run had",
  },
);
export type TaskInfo = Static<typeof TaskInfo>;

export const TaskInfoList = pageOf("TaskList", { tasks: Type.Array(TaskInfo) });
export type TaskInfoList = Static<typeof TaskInfoList>;

const reads = { method: "GET", rateClass: "read" } as const;

export const listTasks = {
  ...reads,
  path: "/v1/tasks",
  aliases: [{ path: "/tasks" }],
  tag: "Tasks",
  client: "tasks.list",
  summary: "List tasks by name",
  description: "Tasks that workers serve or registered defaults for, that jobs name, and that finished runs had.",
  permission: "jobs:read",
  query: PageQuery,
  ...pageAnswer(TaskInfoList),
} as const satisfies Operation;

export const getTask = {
  ...reads,
  path: "/v1/tasks/{name}",
  aliases: [{ path: "/tasks/{name}" }],
  tag: "Tasks",
  client: "tasks.get",
  summary: "Get a task",
  permission: "jobs:read",
  params: Type.Object({ name: AnyName("email.welcome") }),
  ...singleAnswer(TaskInfo, "The task"),
} as const satisfies Operation;
