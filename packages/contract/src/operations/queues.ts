import { Type } from "typebox";
import { BulkOperation } from "../schema/bulk.js";
import {
  Queue,
  QueueList,
  QueueListQuery,
  QueuePatch,
  QueuePauseRequest,
  QueuePurged,
  QueuePurgeRequest,
  QueueStats,
} from "../schema/queue.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { tag: "Queues", permission: "queues:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ name: Type.String({ examples: ["email"] }) });
const writes = { tag: "Queues", permission: "queues:write", rateClass: "write", params, conditional: true } as const;
const theQueue = { description: "The queue as it is now", schema: Queue, headers: { ETag: 'Its version, as in "v7"' } };
const changeErrors = [...bodyErrors, "not_found", "precondition_failed", ...storeErrors] as const;

export const listQueues = {
  ...reads,
  path: "/v1/queues",
  summary: "List queues by name",
  query: QueueListQuery,
  answers: { 200: { description: "One page", schema: QueueList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getQueue = {
  ...reads,
  path: "/v1/queues/{name}",
  summary: "Get a queue",
  params,
  answers: { 200: theQueue },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const getQueueStats = {
  ...reads,
  path: "/v1/queues/{name}/stats",
  summary: "What waits and works in a queue",
  params,
  answers: { 200: { description: "As of now", schema: QueueStats } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const updateQueue = {
  ...writes,
  method: "PATCH",
  path: "/v1/queues/{name}",
  summary: "Change a queue, or make it",
  description: "The order counts for runs that are queued from now on; what waits keeps its place.",
  body: QueuePatch,
  answers: { 200: theQueue },
  errors: [...changeErrors, "duration_invalid", "queue_order_fixed", "limit_invalid"],
} as const satisfies Operation;

export const pauseQueue = {
  ...writes,
  method: "POST",
  path: "/v1/queues/{name}:pause",
  aliases: [{ path: "/v1/queues/{name}/pause" }],
  summary: "Hand out nothing of a queue",
  description:
    "Runs that workers have go on, and schedules go on firing. Other nodes follow within a second. Of a queue that is paused it replaces the reason and the end.",
  body: QueuePauseRequest,
  bodyOptional: true,
  answers: { 200: theQueue },
  errors: [...changeErrors, "duration_invalid", "instant_invalid"],
} as const satisfies Operation;

export const resumeQueue = {
  ...writes,
  method: "POST",
  path: "/v1/queues/{name}:resume",
  aliases: [{ path: "/v1/queues/{name}/resume" }],
  summary: "Hand out runs of a queue again",
  answers: { 200: theQueue },
  errors: changeErrors,
} as const satisfies Operation;

export const purgeQueue = {
  tag: "Queues",
  permission: "queues:write",
  rateClass: "bulk",
  params,
  method: "POST",
  path: "/v1/queues/{name}:purge",
  aliases: [{ path: "/v1/queues/{name}/purge" }],
  summary: "End all runs of a queue that wait",
  description:
    "For a worker, for a limit or their order, behind an open breaker or another run of their job, and, unless delayed is false, for " +
    "their time or their next try. They end as cancelled, with the reason purged; what workers have goes on. Up to a thousand end " +
    "with the call, more by an operation that can be watched and aborted.",
  body: QueuePurgeRequest,
  bodyOptional: true,
  answers: {
    200: { description: "Done, or counted", schema: QueuePurged },
    202: { description: "The operation that goes on", schema: BulkOperation, headers: { Location: "Where it is" } },
  },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
