import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import { stringEnum, Timestamp, closed, object } from "../fields.js";
import { type Operation, getErrors, listErrors, writeErrors } from "../operation.js";
import { paging, pageOf } from "../paging.js";
import { RunList } from "./run.js";

export const WorkerRef = Type.Object({ id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

const WorkerState = stringEnum(["active", "cordoned", "draining", "leaving"], {
  description:
    "What was asked of it. cordoned: it is given nothing more; draining: and it is told to end; leaving: and to give back what it has",
});

export const Worker = object("Worker", {
  id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  name: Type.String(),
  queues: Type.Array(Type.String(), { description: "* alone stands for every queue" }),
  tasks: Type.Array(Type.String()),
  slots: Type.Integer({ description: "Slots: runs of weight 1 at a time" }),
  labels: Type.Record(Type.String(), Type.String()),
  versions: Type.Record(Type.String(), Type.Array(Type.String()), { description: "By task, those that it has" }),
  weights: Type.Record(Type.String(), Type.Integer(), {
    description: "By task, how many slots a run takes, if not 1",
  }),
  spot: Type.Boolean({ description: "It may go at any time: it gets only runs that allow it" }),
  state: WorkerState,
  in_process: Type.Boolean({ description: "It lives inside a node" }),
  started_at: Timestamp,
  heartbeat_at: Timestamp,
});
export type Worker = Static<typeof Worker>;

export const WorkerDrain = object(
  "WorkerDrain",
  {
    notice: Type.Optional(
      Type.Boolean({
        description:
          "Its machine goes: handlers are told at once, and what has not ended is given back with nothing spent",
      }),
    ),
  },
  { examples: [{ notice: true }] },
);
export type WorkerDrain = Static<typeof WorkerDrain>;

export const WorkerList = pageOf("WorkerList", { workers: Type.Array(Worker) });
export type WorkerList = Static<typeof WorkerList>;

export const WorkerListQuery = closed({ ...paging });
export type WorkerListQuery = Static<typeof WorkerListQuery>;

const reading = { method: "GET", tag: "Workers", permission: "workers:read", rateClass: "read" } as const;
const asking = { method: "POST", tag: "Workers", permission: "workers:write", rateClass: "write" } as const;

const asked = {
  params: WorkerRef,
  answers: { 200: { description: "The worker as it is now", schema: Worker } },
  errors: writeErrors,
} as const;

export const listWorkers = {
  ...reading,
  path: "/v1/workers",
  client: "workers.list",
  summary: "List the workers that live, newest first",
  query: WorkerListQuery,
  answers: { 200: { description: "One page", schema: WorkerList } },
  errors: listErrors,
} as const satisfies Operation;

export const getWorker = {
  ...reading,
  path: "/v1/workers/{id}",
  client: "workers.get",
  summary: "Get a worker",
  params: WorkerRef,
  answers: { 200: { description: "The worker", schema: Worker } },
  errors: getErrors,
} as const satisfies Operation;

export const listWorkerRuns = {
  ...reading,
  path: "/v1/workers/{id}/runs",
  client: "workers.runs",
  summary: "List the runs that a worker has or had, newest first",
  description: "Also of a worker that is gone.",
  params: WorkerRef,
  query: WorkerListQuery,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: listErrors,
} as const satisfies Operation;

export const cordonWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:cordon",
  aliases: [{ path: "/v1/workers/{id}/cordon" }],
  client: "workers.cordon",
  summary: "Give a worker nothing more",
  description: "What it has it may end. Known to its node at once, or with its next sign of life.",
} as const satisfies Operation;

export const uncordonWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:uncordon",
  aliases: [{ path: "/v1/workers/{id}/uncordon" }],
  client: "workers.uncordon",
  summary: "Give a worker runs again",
  description: "One that was told to end is not called back.",
} as const satisfies Operation;

export const drainWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:drain",
  aliases: [{ path: "/v1/workers/{id}/drain" }],
  client: "workers.drain",
  summary: "Tell a worker to end",
  body: WorkerDrain,
  bodyOptional: true,
  description:
    "It is given nothing more, ends what it has within its grace time or gives it back, and leaves. One inside a node is only given " +
    "nothing more.",
} as const satisfies Operation;

export function readWorkerDrain(body: unknown): { readonly isNotice: boolean } {
  return readBody(WorkerDrain, body, ({ notice = false }) => ({ isNotice: notice }));
}
