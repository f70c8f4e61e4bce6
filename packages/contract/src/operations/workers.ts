import { RunList } from "../schema/page.js";
import { Worker, WorkerDrain, WorkerList, WorkerListQuery } from "../schema/worker.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";
import { WorkerRef } from "./worker-protocol.js";

const reading = { method: "GET", tag: "Workers", permission: "workers:read", rateClass: "read" } as const;
const asking = { method: "POST", tag: "Workers", permission: "workers:write", rateClass: "write" } as const;

const asked = {
  params: WorkerRef,
  answers: { 200: { description: "The worker as it is now", schema: Worker } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const;

export const listWorkers = {
  ...reading,
  path: "/v1/workers",
  summary: "List the workers that live, newest first",
  query: WorkerListQuery,
  answers: { 200: { description: "One page", schema: WorkerList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getWorker = {
  ...reading,
  path: "/v1/workers/{id}",
  summary: "Get a worker",
  params: WorkerRef,
  answers: { 200: { description: "The worker", schema: Worker } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const listWorkerRuns = {
  ...reading,
  path: "/v1/workers/{id}/runs",
  summary: "List the runs that a worker has or had, newest first",
  description: "Also of a worker that is gone.",
  params: WorkerRef,
  query: WorkerListQuery,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const cordonWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:cordon",
  aliases: [{ path: "/v1/workers/{id}/cordon" }],
  summary: "Give a worker nothing more",
  description: "What it has it may end. Known to its node at once, or with its next sign of life.",
} as const satisfies Operation;

export const uncordonWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:uncordon",
  aliases: [{ path: "/v1/workers/{id}/uncordon" }],
  summary: "Give a worker runs again",
  description: "One that was told to end is not called back.",
} as const satisfies Operation;

export const drainWorker = {
  ...asking,
  ...asked,
  path: "/v1/workers/{id}:drain",
  aliases: [{ path: "/v1/workers/{id}/drain" }],
  summary: "Tell a worker to end",
  body: WorkerDrain,
  bodyOptional: true,
  description:
    "It is given nothing more, ends what it has within its grace time or gives it back, and leaves. One inside a node is only given " +
    "nothing more.",
} as const satisfies Operation;
