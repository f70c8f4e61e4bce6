import { type Instant, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  AnyName,
  closed,
  Count,
  described,
  DurationText,
  Flag,
  nullable,
  object,
  readDuration,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import { removable } from "../merge-patch.js";
import {
  bodyErrors,
  getErrors,
  type Operation,
  pageAnswer,
  singleAnswer,
  storeErrors,
  verb,
  writeErrors,
} from "../operation.js";
import { pageOf, paging } from "../paging.js";
import { ifOneOf } from "../rules.js";
import { BulkOperation } from "./bulk-operation.js";
import { pauseEnd, pauseFields, pauseRules } from "./pause.js";
import { ownLimitAnswer, ownLimitPatch, readOwnLimits } from "./run-limits.js";

const Order = stringEnum(["priority", "fifo", "edf", "sjf", "strict"], {
  description:
    "The order of runs. priority: urgent runs first, and older ones gain priority; fifo: by due time; edf: earliest " +
    "deadline first; sjf: shortest expected duration first; strict: one run at a time over all workers, by priority and due " +
    "time. strict must be set before the first use of the queue and cannot be changed",
});

export const QueuePatch = object(
  "QueuePatch",
  {
    order: Type.Optional(Order),
    bound: Type.Optional(
      removable(
        DurationText(
          "A run waits only for runs that became due at most this much later; null for the default of the order.",
          "1h30m",
        ),
      ),
    ),
    ...ownLimitPatch,
  },
  {
    examples: [{ order: "fifo" }],
    allOf: [ifOneOf("order", ["strict", "fifo"], { properties: { bound: { type: "null" } } })],
    "x-carillon-rules": [{ code: "field_invalid", rule: "A queue with the order strict or fifo takes no bound" }],
  },
);
export type QueuePatch = Static<typeof QueuePatch>;

export const QueuePauseRequest = object("QueuePauseRequest", pauseFields, {
  examples: [{ reason: "moving", for: "2h" }],
  ...pauseRules,
});
export type QueuePauseRequest = Static<typeof QueuePauseRequest>;

export const QueuePurgeRequest = object("QueuePurgeRequest", {
  delayed: Type.Optional(
    Type.Boolean({
      default: true,
      description: "With false, runs that wait for their time or for their next attempt stay",
    }),
  ),
  dry_run: Flag("Only counts the runs"),
});
export type QueuePurgeRequest = Static<typeof QueuePurgeRequest>;

export const QueuePurged = object("QueuePurged", {
  count: Count("Runs that were cancelled, or would be"),
  more: Type.Boolean({ description: "There may be more runs than were counted" }),
  dry_run: Type.Boolean(),
});
export type QueuePurged = Static<typeof QueuePurged>;

const QueuePause = object("QueuePause", {
  reason: nullable(Type.String()),
  actor: nullable(Type.String()),
  at: Timestamp,
  until: nullable(Timestamp),
});

export const QueueStats = object(
  "QueueStats",
  {
    queued: Count("Runs that wait for a worker"),
    running: Count("Runs that a worker has"),
    oldest_due_at: nullable(Timestamp),
    wait_ms: Type.Number({ description: "How long the oldest waiting run has been due" }),
    workers: Count("Workers that serve the queue"),
    slots: Count("Slots of these workers in total"),
    exact: Type.Boolean({ description: "False if there are more than were counted" }),
    lag_ms: Type.Number({ description: "How long the oldest waiting run has been due: the signal to scale by" }),
    desired_workers: Count(
      "The number of workers that could run all of these at once, each like the present workers, or with ten slots if there " +
        "are none",
    ),
  },
  { description: "The numbers that an autoscaler needs" },
);
export type QueueStats = Static<typeof QueueStats>;

export const Queue = object("Queue", {
  name: Type.String(),
  order: Order,
  bound: nullable(Text("A run waits only for runs that became due at most this much later; null for a strict queue")),
  ...ownLimitAnswer,
  paused: Type.Boolean({ description: "Workers get no runs of it; schedules continue to fire" }),
  pause: nullable(QueuePause),
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  stats: Type.Optional(described(QueueStats, "The present numbers, in a list that includes them")),
});
export type Queue = Static<typeof Queue>;

export const QueueListQuery = closed({
  ...paging,
  include: Type.Optional(
    stringEnum(["stats"], {
      description: `stats: includes the statistics of each queue; a page then has at most ${limits.countedQueues} queues`,
    }),
  ),
});
export type QueueListQuery = Static<typeof QueueListQuery>;

export const QueueList = pageOf("QueueList", { queues: Type.Array(Queue) });
export type QueueList = Static<typeof QueueList>;

const reads = { tag: "Queues", permission: "queues:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ name: AnyName("email") });
const writes = { tag: "Queues", permission: "queues:write", rateClass: "write", params, conditional: true } as const;
const theQueue = { description: "The queue as it is now", schema: Queue, headers: { ETag: 'Its version, as in "v7"' } };
const changeErrors = [...bodyErrors, "not_found", "precondition_failed", ...storeErrors] as const;

export const listQueues = {
  ...reads,
  path: "/v1/queues",
  client: "queues.list",
  summary: "List queues by name",
  query: QueueListQuery,
  ...pageAnswer(QueueList),
} as const satisfies Operation;

export const getQueue = {
  ...reads,
  path: "/v1/queues/{name}",
  client: "queues.get",
  summary: "Get a queue",
  params,
  answers: { 200: theQueue },
  errors: getErrors,
} as const satisfies Operation;

export const getQueueStats = {
  ...reads,
  path: "/v1/queues/{name}/stats",
  client: "queues.stats",
  summary: "Get the statistics of a queue",
  params,
  ...singleAnswer(QueueStats, "The present numbers"),
} as const satisfies Operation;

export const updateQueue = {
  ...writes,
  method: "PATCH",
  path: "/v1/queues/{name}",
  client: "queues.update",
  summary: "Create or change a queue",
  description:
    "A new order applies to runs that are queued from now on; waiting runs keep their places. A patch that changes nothing " +
    "makes no new version, and an empty one creates no queue.",
  body: QueuePatch,
  answers: { 200: theQueue },
  errors: [...changeErrors, "duration_invalid", "queue_order_fixed", "limit_invalid"],
} as const satisfies Operation;

export const pauseQueue = {
  ...writes,
  ...verb("/v1/queues/{name}:pause"),
  client: "queues.pause",
  summary: "Pause a queue",
  description:
    "Workers get no more runs of the queue. Runs that they have continue, and schedules continue to fire. Other nodes " +
    "follow within a second. A paused queue gets the new reason and end.",
  body: QueuePauseRequest,
  bodyOptional: true,
  answers: { 200: theQueue },
  errors: [...changeErrors, "duration_invalid", "instant_invalid"],
} as const satisfies Operation;

export const resumeQueue = {
  ...writes,
  ...verb("/v1/queues/{name}:resume"),
  client: "queues.resume",
  summary: "Resume a queue",
  answers: { 200: theQueue },
  errors: changeErrors,
} as const satisfies Operation;

export const purgeQueue = {
  tag: "Queues",
  permission: "queues:write",
  rateClass: "bulk",
  params,
  ...verb("/v1/queues/{name}:purge"),
  client: "queues.purge",
  summary: "Purge a queue",
  description:
    "Cancels all waiting runs, with the reason purged: those that wait for a worker, for a limit or their order, for an " +
    "open breaker or another run of their job, and, unless delayed is false, for their time or their next attempt. Runs " +
    "that workers have continue. The call itself ends up to a thousand runs; more are ended by an operation that can be " +
    "watched and aborted.",
  body: QueuePurgeRequest,
  bodyOptional: true,
  answers: {
    200: { description: "The runs were cancelled, or counted", schema: QueuePurged },
    202: {
      description: "The operation that continues in the background",
      schema: BulkOperation,
      headers: { Location: "The address of the resource" },
    },
  },
  errors: writeErrors,
} as const satisfies Operation;

export type QueueChange = ReturnType<typeof readQueuePatch>;

export function readQueuePatch(body: unknown) {
  return readBody(QueuePatch, body, ({ order, bound, ...ownLimits }, findings) => {
    const takesNone = order === "strict" || order === "fifo";
    if (typeof bound === "string" && takesNone) {
      findings.add(
        "/bound",
        "field_invalid",
        `The order ${order} takes no bound, because priority does not move its runs.`,
      );
    }
    const boundMs = bound === null ? null : readDuration(bound, "/bound", findings);
    return { ...present({ order, boundMs }), ...readOwnLimits(ownLimits, findings) };
  });
}

export function readQueuePause(body: unknown, now: Instant) {
  return readBody(QueuePauseRequest, body, (pause, findings) => {
    return { reason: pause.reason ?? null, until: pauseEnd(pause, now, findings) };
  });
}

export function readQueuePurge(body: unknown) {
  return readBody(QueuePurgeRequest, body, ({ delayed: isOfDelayed = true, dry_run: dryRun = false }) => {
    return { isOfDelayed, dryRun };
  });
}
