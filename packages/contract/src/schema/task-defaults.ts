import { Type, type Static } from "typebox";
import { RunCreate } from "./run-create.js";

const of = RunCreate.properties;

/** The fields of a request for a run that its task may have said already. */
export const TaskDefaults = Type.Object(
  {
    queue: of.queue,
    priority: of.priority,
    retry: of.retry,
    timeout: of.timeout,
    deadline: of.deadline,
    sla: of.sla,
    guarantee: of.guarantee,
    requires: of.requires,
    concurrency: of.concurrency,
    rate_limit: of.rate_limit,
    ordering_key: of.ordering_key,
    ordering_on_failure: of.ordering_on_failure,
    callbacks: of.callbacks,
    task_version: of.task_version,
    allow_spot: of.allow_spot,
    breaker: of.breaker,
    searchable: of.searchable,
  },
  {
    title: "TaskDefaults",
    additionalProperties: false,
    description: "What runs of a task are like where the request for a run or a job does not say it",
    examples: [{ queue: "email", timeout: "2m", retry: { max_attempts: 5 } }],
  },
);

export type TaskDefaults = Static<typeof TaskDefaults>;
/** Their names. */
export const defaultNames: ReadonlySet<string> = new Set(Object.keys(TaskDefaults.properties));
