import { type Instant, runStatuses } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, printablePattern, runStatusesPattern, searchPathPattern } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  closed,
  Count,
  described,
  DurationText,
  IdText,
  InstantText,
  JobName,
  Milliseconds,
  NameFilter,
  nullable,
  object,
  readDuration,
  readInstant,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import {
  bodyErrors,
  filterErrors,
  type Operation,
  queryErrors,
  singleAnswer,
  storeErrors,
  unversionedVerb,
  writeErrors,
} from "../operation.js";
import { NextPageToken, paging, Total, totalQuery } from "../paging.js";
import { exactlyOne, type Rule } from "../rules.js";
import { refuseLongPast, type RequestContext } from "./request-context.js";
import { Warning } from "./warning.js";

export const RunStatus = stringEnum(runStatuses, { description: "The state of the run" });
export type RunStatus = Static<typeof RunStatus>;

export const RunError = object("RunError", {
  type: Type.String(),
  message: Type.String(),
  stack: Type.Optional(Type.String()),
  retryable: Type.Boolean(),
  fingerprint: Type.Optional(Text("Identifies its error group")),
});
export type RunError = Static<typeof RunError>;

const triggerKinds = ["schedule", "once", "run_now", "backfill", "retry", "replay", "after", "callback"] as const;

const Trigger = object("Trigger", {
  kind: stringEnum(triggerKinds, { description: "What created the run" }),
  id: nullable(Text("The id of what created it: a backfill or a run (for run_now the run itself)")),
  scheduled_for: Timestamp,
  upstream: Type.Optional(
    Type.Array(Type.String(), {
      description: "For kind after: the runs whose ends started it, in the order of the job's `after`",
    }),
  ),
});

const attemptOutcomes = [
  "running",
  "succeeded",
  "failed",
  "timeout",
  "worker_lost",
  "not_started",
  "drained",
  "cancelled",
] as const;

const attempt = {
  attempt: Count("From 1. An attempt that ended with its worker is repeated under the same number"),
  fence: Type.Integer({ description: "Identifies the claim of the attempt: grows with each claim of the run" }),
  worker_id: nullable(Text("The worker that had it; null while it waits for a callback")),
  started_at: Timestamp,
  ended_at: nullable(described(Timestamp, "Of a lost worker's attempt: when the loss was found")),
  duration_ms: nullable(Milliseconds("The time from its start to its end")),
  outcome: stringEnum(attemptOutcomes, {
    description:
      "worker_lost counts against max_losses; not_started (its worker was lost before the start was recorded) and drained " +
      "(its worker stopped and gave the run back) count against nothing",
  }),
  error: nullable(RunError),
};

const attemptOf = { description: "One claim of a run by a worker" };
const Attempt = object("Attempt", attempt, attemptOf);
const RunAttempt = object("RunAttempt", attempt, attemptOf);

const Progress = object(
  "Progress",
  {
    fraction: Type.Number({ minimum: 0, maximum: 1 }),
    text: nullable(Type.String()),
    at: Timestamp,
  },
  { description: "The progress that the handler reported last" },
);

const waitReasons =
  "due_later, due_now, retry_later, overlap, queue_paused, limit_concurrency, limit_rate, limit_order, limit_pending, " +
  "breaker_open, position, no_worker_for_task, no_worker_for_queue, no_worker_for_version, no_worker_with_labels, " +
  "only_spot_workers, workers_cordoned";

export const WaitingOn = object(
  "WaitingOn",
  {
    code: Text(`The reason, as in explain: ${waitReasons}`),
    detail: Type.String({ examples: ["no worker serves task pdf"] }),
  },
  {
    description:
      "What a live run that does not run waits for; only in an answer about a single run, and null in the answer to a call that " +
      "creates one without wait",
  },
);
export type WaitingOn = Static<typeof WaitingOn>;

const RunSla = object(
  "RunSla",
  {
    start_by: nullable(Timestamp),
    finish_by: nullable(Timestamp),
    breached: Type.Array(stringEnum(["start", "finish"]), { description: "Which promises were not kept" }),
  },
  { description: "The service level of the run. Runs that repeat the past (retry, replay, backfill) have none" },
);

/** How a run went. */
const course = {
  id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  status: RunStatus,
  status_reason: nullable(Text("The reason of the status: handler_error, timeout, worker_lost …")),
  trigger: Trigger,
  attempt: Count("The number of the current or last attempt, from 1; 0 before the first"),
  max_attempts: Type.Integer(),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  lag_ms: nullable(Milliseconds("How long after its time the current or last attempt started")),
  duration_ms: nullable(Milliseconds("The time from the start of the last attempt to its end")),
};

export const RunSummary = object("RunSummary", course);
export type RunSummary = Static<typeof RunSummary>;

export const Run = object("Run", {
  ...course,
  job_id: nullable(Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] })),
  task: Type.String(),
  queue: Type.String(),
  priority: Type.Integer(),
  run_at: described(Timestamp, "When it may start: its time with jitter, or the time of the next attempt"),
  deadline_at: nullable(described(Timestamp, "The deadline, while the run is live")),
  sla: nullable(RunSla),
  created_at: Timestamp,
  losses: Count("The number of times that its worker was lost after the start was recorded"),
  worker_id: nullable(Type.String()),
  waiting_on: nullable(WaitingOn),
  retried_as: nullable(Text("The run that retries this one; only in an answer about a single run")),
  progress: nullable(Progress),
  payload: Type.Unknown(),
  output: Type.Unknown(),
  error: nullable(RunError),
  attempts: Type.Array(Attempt, {
    description: "All attempts, oldest first, the running one included; of more than a hundred the last ones",
  }),
  labels: Type.Record(Type.String(), Type.String()),
  owner: nullable(Type.String()),
  parent_id: nullable(Text("The run whose handler created it")),
  trace_id: nullable(Text("The trace of the call that created it, by W3C Trace Context")),
  warnings: Type.Optional(
    Type.Array(Warning, {
      description: "Such as a task that no worker serves; only in an answer to a call that creates a run",
    }),
  ),
});
export type Run = Static<typeof Run>;

export const RunList = object("RunList", {
  runs: Type.Array(Run),
  next_page_token: NextPageToken,
  total: Type.Optional(Total),
});
export type RunList = Static<typeof RunList>;

export const StatusFilter = (pattern: string) =>
  Type.Optional(
    Type.String({
      format: "statuses",
      minLength: 1,
      maxLength: limits.nameLength,
      pattern,
      description:
        "One or several statuses, separated by commas. Also accepts the groups pending, live and finished, and the words of " +
        "other systems (COMPLETED, success, failure …), in upper or lower case",
      examples: ["pending", "failed,cancelled"],
    }),
  );

export const listFilters = {
  status: StatusFilter(runStatusesPattern),
  task: Type.Optional(NameFilter("Only of this task")),
  queue: Type.Optional(NameFilter("Only in this queue")),
  owner: Type.Optional(NameFilter("Only of this owner")),
  label_selector: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.selectorLength,
      format: "label-selector",
      description:
        "Only those whose labels match: a=b, a!=b, a in (b,c), a notin (b,c), a, !a, or several of these with commas",
      examples: ["team=billing,region in (eu,us)"],
    }),
  ),
  created_after: Type.Optional(InstantText("Only those created at this time or later")),
  created_before: Type.Optional(InstantText("Only those created before this time")),
  order_by: Type.Optional(
    stringEnum(["created_at desc", "created_at asc"], {
      description: "Newest first (the default) or oldest first",
    }),
  ),
  payload: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      propertyNames: { type: "string", minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern },
      additionalProperties: { type: "string", maxLength: limits.labelValueLength, pattern: printablePattern },
      maxProperties: limits.searchPaths,
      "x-carillon-rules": [{ code: "path_not_searchable", rule: "The path is declared in searchable" }],
      description:
        "payload.<path>=<value>: only those with this value in their payload. The path must be declared in searchable; the " +
        "value is a text, a number, true or false, written as in JSON without quotes",
      examples: [{ "customer.id": "42" }],
    }),
  ),
  total: Type.Optional(totalQuery),
};

export const RunListQuery = closed({
  ...paging,
  ...listFilters,
  job_id: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  worker_id: Type.Optional(NameFilter("Only runs that this worker has or had")),
  trigger: Type.Optional(stringEnum(triggerKinds, { description: "Only runs with this kind of trigger" })),
});
export type RunListQuery = Static<typeof RunListQuery>;

export const RunWaitQuery = closed({
  wait: Type.Optional(
    DurationText(
      `Answers when the run has ended, or after this time; more than ${limits.waitMs / 1_000}s counts as ${limits.waitMs / 1_000}s.`,
      "10s",
    ),
  ),
});

export const RunReschedule = object(
  "RunReschedule",
  {
    at: Type.Optional(InstantText("The new time of the run")),
    delay: Type.Optional(DurationText("The delay from now on, instead of a time.", "15m")),
  },
  {
    examples: [{ delay: "15m" }],
    ...exactlyOne(["at", "delay"]),
    "x-carillon-rules": [{ code: "schedule_in_past", rule: "at lies at most 24 h in the past" }],
  },
);
export type RunReschedule = Static<typeof RunReschedule>;

export const RunAttempts = object("RunAttempts", { attempts: Type.Array(RunAttempt) });
export type RunAttempts = Static<typeof RunAttempts>;

const runEventTypes = [
  "created",
  "due",
  "started",
  "failed",
  "timeout",
  "worker_lost",
  "not_started",
  "drained",
  "next_try",
  "succeeded",
  "cancelled",
  "skipped",
  "retried",
  "replayed",
  "discarded",
] as const;

const RunEvent = object("RunEvent", {
  at: Timestamp,
  type: stringEnum(runEventTypes),
  attempt: nullable(Type.Integer()),
  worker_id: nullable(Type.String()),
  run_id: nullable(Text("The run that a retry or replay created")),
  detail: nullable(Text("The reason, where there is one")),
});

export const RunEvents = object(
  "RunEvents",
  { events: Type.Array(RunEvent) },
  { description: "The history of a run, oldest first, derived from the run and its attempts" },
);
export type RunEvents = Static<typeof RunEvents>;

export const explanationFields = {
  detail: Text("The reason in one sentence, with its numbers"),
  until: nullable(described(Timestamp, "When this changes by itself, where that is known")),
  facts: Type.Record(Type.String(), Type.Unknown(), { description: "The numbers and names in the sentence" }),
};

export const RunExplanation = object(
  "RunExplanation",
  {
    run_id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    status: RunStatus,
    code: Text(`ended, running, ${waitReasons}`),
    ...explanationFields,
  },
  { description: "The first reason why a run does not run" },
);
export type RunExplanation = Static<typeof RunExplanation>;

export const RunRef = Type.Object({ id: IdText("run") });

/** Of a list with these filters. */
export const filterRules: readonly Rule[] = [
  { code: "field_invalid", rule: "owner and user_id mean the same, so they have the same value" },
];

const reads = { method: "GET", tag: "Runs", permission: "runs:read", rateClass: "read" } as const;

export const listRuns = {
  ...reads,
  path: "/v1/runs",
  aliases: [{ path: "/runs" }],
  client: "runs.list",
  summary: "List runs, newest first",
  query: RunListQuery,
  rules: filterRules,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: [...queryErrors, ...filterErrors, "id_invalid", "page_token_invalid", "not_found", ...storeErrors],
} as const satisfies Operation;

export const getRun = {
  ...reads,
  path: "/v1/runs/{id}",
  aliases: [{ path: "/runs/{id}" }],
  client: "runs.get",
  summary: "Get a run",
  description: "Returns the run as it is now. With wait, answers when the run has ended.",
  params: RunRef,
  query: RunWaitQuery,
  waits: true,
  ...singleAnswer(Run, "The run", ["not_found", ...queryErrors, "duration_invalid", ...storeErrors]),
} as const satisfies Operation;

export const explainRun = {
  ...reads,
  path: "/v1/runs/{id}/explain",
  aliases: [{ path: "/runs/{id}/explain" }],
  client: "runs.explain",
  summary: "Explain why a run does not run",
  description: "Returns the first reason that keeps the run from running, with its numbers. Counts stop at 10,000.",
  params: RunRef,
  ...singleAnswer(RunExplanation, "The explanation"),
} as const satisfies Operation;

const writes = { method: "POST", tag: "Runs", permission: "runs:write", rateClass: "write", params: RunRef } as const;

export const cancelRun = {
  ...writes,
  ...unversionedVerb("/v1/runs/{id}:cancel"),
  client: "runs.cancel",
  summary: "Cancel a run",
  description:
    "A waiting run ends at once. A running run is asked to stop. A run that has ended is returned unchanged.",
  ...singleAnswer(Run, "The run as it is now", writeErrors),
} as const satisfies Operation;

export const rescheduleRun = {
  ...writes,
  ...unversionedVerb("/v1/runs/{id}:reschedule"),
  client: "runs.reschedule",
  summary: "Reschedule a run",
  description: "Only for runs that wait for their time, for their next attempt, or for a worker.",
  body: RunReschedule,
  answers: { 200: { description: "The run as it is now", schema: Run } },
  errors: [
    ...bodyErrors,
    "not_found",
    "instant_invalid",
    "duration_invalid",
    "schedule_in_past",
    "run_not_waiting",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const listRunAttempts = {
  ...reads,
  path: "/v1/runs/{id}/attempts",
  aliases: [{ path: "/runs/{id}/attempts" }],
  client: "runs.attempts",
  summary: "List the attempts of a run, oldest first",
  params: RunRef,
  ...singleAnswer(RunAttempts, "All attempts, the running one included"),
} as const satisfies Operation;

export const listRunEvents = {
  ...reads,
  path: "/v1/runs/{id}/events",
  aliases: [{ path: "/runs/{id}/events" }],
  client: "runs.events",
  summary: "List the events of a run, oldest first",
  params: RunRef,
  ...singleAnswer(RunEvents, "The events"),
} as const satisfies Operation;

/** The new time of a run. */
export function readReschedule(body: unknown, context: RequestContext): Instant {
  return readBody(RunReschedule, body, ({ at, delay }, findings) => {
    if ((at === undefined) === (delay === undefined)) findings.add("", "field_invalid", "Send either at or delay.");
    if (delay !== undefined) return context.now + (readDuration(delay, "/delay", findings) ?? 0);
    const instant = readInstant(at, "/at", findings) ?? context.now;
    refuseLongPast(instant, context, { pointer: "/at", hint: "Send a later instant.", findings });
    return instant;
  });
}
