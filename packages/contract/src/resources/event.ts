import { type Static, Type } from "typebox";
import {
  Count,
  JobName,
  Milliseconds,
  NameFilter,
  nullable,
  stringEnum,
  Timestamp,
  closed,
  object,
} from "../fields.js";
import { type Operation, getErrors } from "../operation.js";

/** Types of events. The first word names what they happen to. */
export const eventTypes = [
  "run.fired",
  "run.blocked",
  "run.late",
  "run.sla_breached",
  "run.started",
  "run.progress",
  "run.retrying",
  "run.snoozed",
  "run.succeeded",
  "run.failed",
  "run.cancelled",
  "job.created",
  "job.updated",
  "job.paused",
  "job.resumed",
  "job.cancelled",
  "queue.updated",
  "queue.paused",
  "queue.resumed",
  "task.defaults_changed",
  "worker.lost",
  "node.took_over",
] as const;

export const EventType = stringEnum(eventTypes);
export type EventType = Static<typeof EventType>;

/** The data of one event of the stream. */
export const Event = object("Event", {
  type: EventType,
  at: Timestamp,
  job_id: Type.Optional(nullable(Type.String())),
  run_id: Type.Optional(Type.String()),
  task: Type.Optional(Type.String()),
  queue: Type.Optional(Type.String()),
  scheduled_for: Type.Optional(Timestamp),
  sla: Type.Optional(stringEnum(["start", "finish"], { description: "What came later than was promised" })),
  late_ms: Type.Optional(
    Milliseconds("How long after its time it was fired, or after the term of its SLA it started or ended"),
  ),
  waited_ms: Type.Optional(Milliseconds("How long it waited for a worker since it was due")),
  delay_ms: Type.Optional(Milliseconds("After how long it is tried again")),
  duration_ms: Type.Optional(Milliseconds("How long its last try took")),
  worker_id: Type.Optional(Type.String({ description: "The worker that was declared dead" })),
  worker: Type.Optional(Type.String({ description: "Its name" })),
  runs: Type.Optional(Count("How many runs it left, which others get")),
  node_id: Type.Optional(Type.String({ description: "The node that took shards over" })),
  from_node_id: Type.Optional(Type.String({ description: "The node that is gone" })),
  shards: Type.Optional(Count("How many shards it took from that one")),
  after_ms: Type.Optional(Milliseconds("How long after the last sign of life of the one that is gone")),
  fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  text: Type.Optional(nullable(Type.String())),
});
export type Event = Static<typeof Event>;

/** The data of `event: reset`: the stream may have missed events, so a reader must read the state again. */
export const EventReset = object("EventReset", {
  reason: stringEnum(["gap", "other_node"], {
    description: "gap: there were more than this node remembers. other_node: Last-Event-ID is of another node",
  }),
  missed: Type.Optional(Count("How many, where that is known")),
});
export type EventReset = Static<typeof EventReset>;

export const EventQuery = closed({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        "Only these, separated by commas. run, job, queue, task, worker or node alone means all that happens to them",
      examples: ["run.failed,job"],
    }),
  ),
  job: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  run: Type.Optional(NameFilter("Only of this run")),
  queue: Type.Optional(NameFilter("Only in this queue")),
});
export type EventQuery = Static<typeof EventQuery>;

export const streamEvents = {
  method: "GET",
  path: "/v1/events",
  tag: "Events",
  summary: "Follow what happens",
  description:
    "Server-sent events: the name of each is its type, its data an Event. They are hints from the memory of the node, not a record: " +
    "after a reset, which comes where some may have been missed, read again what you follow. Last-Event-ID continues where a " +
    "connection broke off, if the node still remembers. A comment comes every 15 s; who does not read is cut off.",
  permission: "runs:read",
  rateClass: "stream",
  query: EventQuery,
  streams: true,
  answers: {
    200: {
      description: "Events as they come",
      schema: Type.String({ contentSchema: Type.Union([Event, EventReset]) }),
      contentType: "text/event-stream",
    },
  },
  errors: getErrors,
} as const satisfies Operation;
