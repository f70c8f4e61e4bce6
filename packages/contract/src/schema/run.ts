import { runStatuses } from "@carillon/core";
import { Type, type Static } from "typebox";
import { Count, Milliseconds, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

export const RunStatus = stringEnum(runStatuses, { description: "Where the run is in its life" });

export const RunError = Type.Object(
  {
    type: Type.String(),
    message: Type.String(),
    stack: Type.Optional(Type.String()),
    retryable: Type.Boolean(),
    fingerprint: Type.Optional(Type.String({ description: "Names its kind; see error groups" })),
  },
  { title: "RunError", additionalProperties: false },
);

export const triggerKinds = [
  "schedule",
  "once",
  "run_now",
  "backfill",
  "retry",
  "replay",
  "after",
  "callback",
] as const;

const Trigger = Type.Object(
  {
    kind: stringEnum(triggerKinds, { description: "Who asked for the run" }),
    id: nullable(
      Type.String({
        description: "What asked for it, where that has an id: a backfill, or a run (of run_now the run itself)",
      }),
    ),
    scheduled_for: Timestamp,
    upstream: Type.Optional(
      Type.Array(Type.String(), {
        description: "Of kind after: the runs whose ends started it, in the order of the job's `after`",
      }),
    ),
  },
  { title: "Trigger", additionalProperties: false },
);

const Attempt = Type.Object(
  {
    attempt: Type.Integer(),
    fence: Type.Integer(),
    worker_id: Type.String(),
    started_at: Timestamp,
    ended_at: Timestamp,
    outcome: stringEnum(["failed", "timeout", "worker_lost"]),
    error: nullable(RunError),
  },
  { title: "Attempt", additionalProperties: false, description: "A try that ended without success" },
);

const Progress = Type.Object(
  {
    fraction: Type.Number({ minimum: 0, maximum: 1 }),
    text: nullable(Type.String()),
    at: Timestamp,
  },
  { title: "Progress", additionalProperties: false, description: "What the run's handler said last of how far it is" },
);

export const WaitingOn = Type.Object(
  {
    code: Type.String({
      description:
        "As in explain: due_later, due_now, retry_later, overlap, queue_paused, limit_concurrency, limit_rate, limit_order, limit_pending, breaker_open, " +
        "position, no_worker_for_task, no_worker_for_queue, no_worker_for_version, no_worker_with_labels, only_spot_workers, workers_cordoned",
    }),
    detail: Type.String({ examples: ["no worker serves task pdf"] }),
  },
  {
    title: "WaitingOn",
    additionalProperties: false,
    description: "What a run that is live and does not run waits for; where one run is asked for",
  },
);

const RunSla = Type.Object(
  {
    start_by: nullable(Timestamp),
    finish_by: nullable(Timestamp),
    breached: Type.Array(stringEnum(["start", "finish"]), { description: "What came later than that" }),
  },
  {
    title: "RunSla",
    additionalProperties: false,
    description: "What was promised of it; of none that makes up for the past (retry, replay, backfill)",
  },
);

/** The part of a run that answers "how did it go". */
const course = {
  id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  status: RunStatus,
  status_reason: nullable(Type.String({ description: "Why: handler_error, timeout, worker_lost …" })),
  trigger: Trigger,
  attempt: Count("The current or last try, from 1; 0 before the first"),
  max_attempts: Type.Integer(),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  lag_ms: nullable(Milliseconds("How long after its time the current or last try started")),
  duration_ms: nullable(Milliseconds("From the start of the last try to its end")),
};

export const RunSummary = Type.Object(course, { title: "RunSummary", additionalProperties: false });

export const Run = Type.Object(
  {
    ...course,
    job_id: nullable(Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] })),
    task: Type.String(),
    queue: Type.String(),
    priority: Type.Integer(),
    run_at: Type.Unsafe<string>({
      ...Timestamp,
      description: "When it may start: its time with jitter, or the next try",
    }),
    deadline_at: nullable(
      Type.Unsafe<string>({ ...Timestamp, description: "When it is to have ended, while it is live" }),
    ),
    sla: nullable(RunSla),
    created_at: Timestamp,
    losses: Count("Times that its worker was lost"),
    worker_id: nullable(Type.String()),
    waiting_on: nullable(WaitingOn),
    retried_as: nullable(
      Type.String({ description: "The run that takes the place of this one; only where one run is asked for" }),
    ),
    progress: nullable(Progress),
    payload: Type.Unknown(),
    output: Type.Unknown(),
    error: nullable(RunError),
    attempts: Type.Array(Attempt, { description: "The tries before the last one; of very many the last hundred" }),
    labels: Type.Record(Type.String(), Type.String()),
    owner: nullable(Type.String()),
    trace_id: nullable(Type.String({ description: "The trace of whoever asked for it, by W3C Trace Context" })),
  },
  { title: "Run", additionalProperties: false },
);

export type RunStatus = Static<typeof RunStatus>;
export type RunError = Static<typeof RunError>;
export type WaitingOn = Static<typeof WaitingOn>;
export type RunSummary = Static<typeof RunSummary>;
export type Run = Static<typeof Run>;
