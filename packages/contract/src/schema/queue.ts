import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { removable } from "./merge-patch.js";
import { NextPageToken, paging } from "./paging.js";
import { QueueConcurrency, QueueRateLimit } from "./run-limits.js";
import { Count, DurationText, InstantText, Reason, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const Order = stringEnum(["priority", "fifo", "edf", "sjf", "strict"], {
  description:
    "priority: urgent runs first, and age counts; fifo: as they came due; edf: the earliest deadline first; sjf: the shortest " +
    "expected duration first; strict: one run at a time, by priority and due time, over all workers. Strict is said before the " +
    "queue's first use, and stays",
});

export const QueuePatch = Type.Object(
  {
    order: Type.Optional(Order),
    bound: Type.Optional(
      removable<string>(
        DurationText(
          "A run waits only for runs that became due at most this much later; null for the order's own.",
          "1h30m",
        ),
      ),
    ),
    concurrency: Type.Optional(removable<Static<typeof QueueConcurrency>>(QueueConcurrency)),
    rate_limit: Type.Optional(removable<Static<typeof QueueRateLimit>>(QueueRateLimit)),
  },
  { title: "QueuePatch", additionalProperties: false, examples: [{ order: "fifo" }] },
);

export const QueuePauseRequest = Type.Object(
  {
    reason: Type.Optional(Reason),
    until: Type.Optional(InstantText("It resumes by itself then")),
    for: Type.Optional(DurationText("It resumes by itself after this time.", "2h")),
  },
  { title: "QueuePauseRequest", additionalProperties: false, examples: [{ reason: "moving", for: "2h" }] },
);

export const QueuePurgeRequest = Type.Object(
  {
    delayed: Type.Optional(
      Type.Boolean({
        default: true,
        description: "false leaves those alone that wait for their time or for their next try",
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: "Only says how many there are" })),
  },
  { title: "QueuePurgeRequest", additionalProperties: false },
);

export const QueuePurged = Type.Object(
  {
    count: Count("Runs that were ended, or would be"),
    more: Type.Boolean({ description: "There may be more: it was not looked at all of them" }),
    dry_run: Type.Boolean(),
  },
  { title: "QueuePurged", additionalProperties: false },
);

const QueuePause = Type.Object(
  {
    reason: nullable(Type.String()),
    actor: nullable(Type.String()),
    at: Timestamp,
    until: nullable(Timestamp),
  },
  { title: "QueuePause", additionalProperties: false },
);

export const QueueStats = Type.Object(
  {
    queued: Count("Runs that wait for a worker"),
    running: Count("Runs that a worker has"),
    oldest_due_at: nullable(Timestamp),
    wait_ms: Type.Number({ description: "For how long the oldest of them has been due" }),
    workers: Count("Workers that serve the queue"),
    slots: Count("Their slots together"),
    exact: Type.Boolean({ description: "False: there are more than were counted" }),
    lag_ms: Type.Number({ description: "For how long the oldest of them has been due: the signal to scale by" }),
    desired_workers: Count(
      "Workers like those that there are, of ten slots if there are none, that would have all of these at work at once",
    ),
  },
  { title: "QueueStats", additionalProperties: false, description: "What an autoscaler asks for" },
);

export const Queue = Type.Object(
  {
    name: Type.String(),
    order: Order,
    bound: nullable(
      Type.String({
        description: "A run waits only for runs that became due at most this much later; null for a strict queue",
      }),
    ),
    concurrency: nullable(QueueConcurrency),
    rate_limit: nullable(QueueRateLimit),
    paused: Type.Boolean({ description: "Nothing is handed out; schedules go on firing" }),
    pause: nullable(QueuePause),
    version: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
    stats: Type.Optional(
      Type.Unsafe<Static<typeof QueueStats>>({ ...QueueStats, description: "As of now, in a list that includes them" }),
    ),
  },
  { title: "Queue", additionalProperties: false },
);

export const QueueListQuery = Type.Object(
  {
    ...paging,
    include: Type.Optional(
      stringEnum(["stats"], {
        description: `stats: what waits and works in each queue, too; then ${limits.countedQueues} queues a page at most`,
      }),
    ),
  },
  { additionalProperties: false },
);

export const QueueList = Type.Object(
  { queues: Type.Array(Queue), next_page_token: NextPageToken },
  { title: "QueueList", additionalProperties: false },
);

export type QueuePatch = Static<typeof QueuePatch>;
export type QueuePurgeRequest = Static<typeof QueuePurgeRequest>;
export type QueuePurged = Static<typeof QueuePurged>;
export type QueuePauseRequest = Static<typeof QueuePauseRequest>;
export type Queue = Static<typeof Queue>;
export type QueueListQuery = Static<typeof QueueListQuery>;
export type QueueList = Static<typeof QueueList>;
export type QueueStats = Static<typeof QueueStats>;
