import { type EventFieldName, eventGroups, eventTypes, priorityClasses } from "@carillon/core";
import { type Static, type TSchema, Type } from "typebox";
import { eventTypesPattern } from "../bounds.js";
import {
  closed,
  Count,
  described,
  IdText,
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

export const EventType = stringEnum(eventTypes);
export type EventType = Static<typeof EventType>;

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : "";

/** Every field of the events that core lists, with its name on the wire. */
const eventFields = {
  job_id: Type.Optional(nullable(Type.String())),
  run_id: Type.Optional(Type.String()),
  task: Type.Optional(Type.String()),
  queue: Type.Optional(Type.String()),
  trigger: Type.Optional(
    stringEnum(["schedule", "after"], { description: "Whether its own schedule or the end of another job fired it" }),
  ),
  priority_class: Type.Optional(
    stringEnum(priorityClasses, { description: "The class in which the scheduler fired it" }),
  ),
  scheduled_for: Type.Optional(described(Timestamp, "The instant of its occurrence")),
  sla: Type.Optional(stringEnum(["start", "finish"], { description: "The term of the SLA that was breached" })),
  due_at: Type.Optional(described(Timestamp, "The instant until which the SLA required its start or end")),
  late_ms: Type.Optional(Milliseconds("How long after its time it fired, or after its SLA it started or ended")),
  waited_ms: Type.Optional(Milliseconds("How long it waited for a worker since it was due")),
  delay_ms: Type.Optional(Milliseconds("The time until the next attempt")),
  timeout_ms: Type.Optional(Milliseconds("How long it waits for its callback")),
  duration_ms: Type.Optional(Milliseconds("The duration of its last attempt")),
  fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "The progress, from 0 to 1" })),
  text: Type.Optional(nullable(Text("The text that the handler gave with its progress"))),
  reason: Type.Optional(Text("Why the job cannot fire")),
  worker_id: Type.Optional(Text("The worker that was declared lost")),
  worker: Type.Optional(Text("The name of the worker")),
  runs: Type.Optional(Count("Runs that the worker had and that others get, up to 1,000")),
  node_id: Type.Optional(Text("The node that took over shards")),
  from_node_id: Type.Optional(Text("The node that was lost")),
  shards: Type.Optional(Count("Shards that it took over from that node")),
  takeover_ms: Type.Optional(
    nullable(Milliseconds("Time since the last heartbeat of the lost node; null if this node never saw one")),
  ),
} satisfies Readonly<Record<SnakeCase<EventFieldName>, TSchema>>;

/** The data of one event of the stream. */
export const Event = object("Event", { type: EventType, at: Timestamp, ...eventFields });
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
      format: "event-types",
      minLength: 1,
      maxLength: 500,
      pattern: eventTypesPattern,
      description:
        `Only these types, separated by commas. ${eventGroups.slice(0, -1).join(", ")} or ${eventGroups.at(-1)} alone means all ` +
        "types of that group",
      examples: ["run.failed,job"],
    }),
  ),
  job: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  run: Type.Optional(IdText("run", "Only of this run")),
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
