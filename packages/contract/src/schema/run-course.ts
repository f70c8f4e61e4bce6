import { Type, type Static } from "typebox";
import { RunError } from "./run.js";
import { Count, DurationText, InstantText, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

export const RunReschedule = Type.Object(
  {
    at: Type.Optional(InstantText("When it is to run")),
    delay: Type.Optional(DurationText("How long from now, instead of a time.", "15m")),
  },
  { title: "RunReschedule", additionalProperties: false, examples: [{ delay: "15m" }] },
);

const RunAttempt = Type.Object(
  {
    attempt: Type.Integer(),
    worker_id: nullable(Type.String()),
    started_at: Timestamp,
    ended_at: nullable(Timestamp),
    outcome: stringEnum(["running", "succeeded", "failed", "timeout", "worker_lost", "cancelled"]),
    error: nullable(RunError),
  },
  { title: "RunAttempt", additionalProperties: false },
);

export const RunAttempts = Type.Object(
  { attempts: Type.Array(RunAttempt) },
  { title: "RunAttempts", additionalProperties: false },
);

const runEventTypes = [
  "created",
  "due",
  "started",
  "failed",
  "timeout",
  "worker_lost",
  "next_try",
  "succeeded",
  "cancelled",
  "skipped",
  "retried",
  "replayed",
  "discarded",
] as const;

const RunEvent = Type.Object(
  {
    at: Timestamp,
    type: stringEnum(runEventTypes),
    attempt: nullable(Type.Integer()),
    worker_id: nullable(Type.String()),
    run_id: nullable(Type.String({ description: "The run that was made in its place, or like it" })),
    detail: nullable(Type.String({ description: "Why, where there is a reason" })),
  },
  { title: "RunEvent", additionalProperties: false },
);

export const RunEvents = Type.Object(
  { events: Type.Array(RunEvent) },
  {
    title: "RunEvents",
    additionalProperties: false,
    description: "What became of a run, oldest first: read from the run and its attempts",
  },
);

export const JobStats = Type.Object(
  {
    finished: Count("Runs that were looked at: the last 1,000 that have ended, at most"),
    succeeded: Count("Of these"),
    failed: Count("Of these"),
    cancelled: Count("Of these"),
    skipped: Count("Of these"),
    retried: Count("Of these, those that took more than one try"),
    first_at: nullable(Timestamp),
    last_at: nullable(Timestamp),
    duration_p50_ms: nullable(Type.Number()),
    duration_p95_ms: nullable(Type.Number()),
    lag_p95_ms: nullable(Type.Number({ description: "How long after their time they started" })),
  },
  { title: "JobStats", additionalProperties: false },
);

export type RunReschedule = Static<typeof RunReschedule>;
export type RunAttempts = Static<typeof RunAttempts>;
export type RunEvents = Static<typeof RunEvents>;
export type JobStats = Static<typeof JobStats>;
