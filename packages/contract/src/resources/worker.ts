import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import { closed, Flag, IdText, object, stringEnum, Timestamp } from "../fields.js";
import { type Operation, pageAnswer, singleAnswer, verb, writeErrors } from "../operation.js";
import { pageOf, paging } from "../paging.js";
import { RunList } from "./run.js";

export const WorkerRef = Type.Object({ id: IdText("wrk") });

const WorkerState = stringEnum(["active", "cordoned", "draining", "leaving"], {
  description:
    "The requested state. cordoned: it gets no more runs; draining: it also shuts down; leaving: it also gives back its " +
    "runs",
});

export const Worker = object("Worker", {
  id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  name: Type.String(),
  queues: Type.Array(Type.String(), { description: "The queues that it serves; * alone stands for every queue" }),
  tasks: Type.Array(Type.String()),
  slots: Type.Integer({ description: "The number of slots: runs of weight 1 at a time" }),
  labels: Type.Record(Type.String(), Type.String()),
  versions: Type.Record(Type.String(), Type.Array(Type.String()), { description: "By task, the versions that it has" }),
  weights: Type.Record(Type.String(), Type.Integer(), {
    description: "By task, the number of slots that a run takes, if not 1",
  }),
  spot: Type.Boolean({ description: "It may disappear at any time, so it gets only runs with allow_spot" }),
  state: WorkerState,
  in_process: Type.Boolean({ description: "It runs inside a node" }),
  started_at: Timestamp,
  heartbeat_at: Timestamp,
});
export type Worker = Static<typeof Worker>;

export const WorkerDrain = object(
  "WorkerDrain",
  {
    notice: Flag(
      "Its machine shuts down: handlers are notified at once, and unfinished runs are given back without counting an attempt",
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
  ...singleAnswer(Worker, "The worker as it is now", writeErrors),
} as const;

export const listWorkers = {
  ...reading,
  path: "/v1/workers",
  client: "workers.list",
  summary: "List connected workers, newest first",
  query: WorkerListQuery,
  ...pageAnswer(WorkerList),
} as const satisfies Operation;

export const getWorker = {
  ...reading,
  path: "/v1/workers/{id}",
  client: "workers.get",
  summary: "Get a worker",
  params: WorkerRef,
  ...singleAnswer(Worker, "The worker"),
} as const satisfies Operation;

export const listWorkerRuns = {
  ...reading,
  path: "/v1/workers/{id}/runs",
  client: "workers.runs",
  summary: "List the runs of a worker, newest first",
  description: "Runs that the worker has or had, also if it has disconnected.",
  params: WorkerRef,
  query: WorkerListQuery,
  ...pageAnswer(RunList),
} as const satisfies Operation;

export const cordonWorker = {
  ...asking,
  ...asked,
  ...verb("/v1/workers/{id}:cordon"),
  client: "workers.cordon",
  summary: "Cordon a worker",
  description:
    "The worker gets no more runs and finishes those that it has. Its own node applies this at once, another node with the " +
    "next heartbeat.",
} as const satisfies Operation;

export const uncordonWorker = {
  ...asking,
  ...asked,
  ...verb("/v1/workers/{id}:uncordon"),
  client: "workers.uncordon",
  summary: "Uncordon a worker",
  description: "A draining worker stays draining.",
} as const satisfies Operation;

export const drainWorker = {
  ...asking,
  ...asked,
  ...verb("/v1/workers/{id}:drain"),
  client: "workers.drain",
  summary: "Drain a worker",
  body: WorkerDrain,
  bodyOptional: true,
  description:
    "The worker gets no more runs, finishes those that it has within its grace time or gives them back, and disconnects. A " +
    "worker inside a node only stops getting runs.",
} as const satisfies Operation;

export function readWorkerDrain(body: unknown): { readonly isNotice: boolean } {
  return readBody(WorkerDrain, body, ({ notice = false }) => ({ isNotice: notice }));
}
