import { type Static, Type } from "typebox";
import {
  closed,
  Count,
  JobName,
  Milliseconds,
  NameFilter,
  nullable,
  object,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import { getErrors, type Operation } from "../operation.js";

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
  sla: Type.Optional(stringEnum(["start", "finish"], { description: "Which promise was not kept" })),
  late_ms: Type.Optional(Milliseconds("How long after its time it fired, or after its SLA it started or ended")),
  waited_ms: Type.Optional(Milliseconds("How long it waited for a worker since it was due")),
  delay_ms: Type.Optional(Milliseconds("The time until the next attempt")),
  duration_ms: Type.Optional(Milliseconds("The duration of its last attempt")),
  worker_id: Type.Optional(Text("The worker that was declared lost")),
  worker: Type.Optional(Text("The name of the worker")),
  runs: Type.Optional(Count("Runs that the worker had and that others get")),
  node_id: Type.Optional(Text("The node that took over shards")),
  from_node_id: Type.Optional(Text("The node that was lost")),
  shards: Type.Optional(Count("Shards that it took over from that node")),
  after_ms: Type.Optional(Milliseconds("Time since the last heartbeat of the lost node")),
  fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  text: Type.Optional(nullable(Type.String())),
});
export type Event = Static<typeof Event>;

/** The data of `event: reset`: the stream may have missed events, so a reader must read the state again. */
export const EventReset = object("EventReset", {
  reason: stringEnum(["gap", "other_node"], {
    description: "gap: there were more events than the node keeps. other_node: Last-Event-ID is of another node",
  }),
  missed: Type.Optional(Count("The number of missed events, where it is known")),
});
export type EventReset = Static<typeof EventReset>;

export const EventQuery = closed({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        "Only these types, separated by commas. run, job, queue, task, worker or node alone means all types of events about " +
        "them",
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
  summary: "Follow events",
  description:
    "A stream of server-sent events; the name of each is its type, its data an Event. Events come from the memory of the " +
    "node and are not a record: after a reset, which means that some may be missing, read the state again. Last-Event-ID " +
    "continues after the last event that was received, if the node still has the later ones. The node sends a comment every " +
    "15 s and closes the connection of a client that does not read.",
  permission: "runs:read",
  rateClass: "stream",
  query: EventQuery,
  streams: true,
  answers: {
    200: {
      description: "Events as they happen",
      schema: Type.String({ contentSchema: Type.Union([Event, EventReset]) }),
      contentType: "text/event-stream",
    },
  },
  errors: getErrors,
} as const satisfies Operation;
