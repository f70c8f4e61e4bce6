import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { Count, JobName, Milliseconds, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

/** What happens, by kind. The first word says to what. */
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

/** The data of one event of the stream. */
export const Event = Type.Object(
  {
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
  },
  { title: "Event", additionalProperties: false },
);

/** The data of `event: reset`: events may have been missed, and what they would have told is to be read again. */
export const EventReset = Type.Object(
  {
    reason: stringEnum(["gap", "other_node"], {
      description: "gap: there were more than this node remembers. other_node: Last-Event-ID is of another node",
    }),
    missed: Type.Optional(Count("How many, where that is known")),
  },
  { title: "EventReset", additionalProperties: false },
);

const Word = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameLength, description }));

export const EventQuery = Type.Object(
  {
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
    run: Word("Only of this run"),
    queue: Word("Only in this queue"),
  },
  { additionalProperties: false },
);

export type EventType = Static<typeof EventType>;
export type Event = Static<typeof Event>;
export type EventReset = Static<typeof EventReset>;
export type EventQuery = Static<typeof EventQuery>;
