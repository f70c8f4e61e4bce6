import { type Instant, runStatuses } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, printablePattern, searchPathPattern } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  readDuration,
  readInstant,
  described,
  Count,
  DurationText,
  InstantText,
  JobName,
  Milliseconds,
  NameFilter,
  nullable,
  stringEnum,
  Timestamp,
  object,
  closed,
} from "../fields.js";
import {
  verbAliases,
  bodyErrors,
  type Operation,
  queryErrors,
  storeErrors,
  getErrors,
  writeErrors,
} from "../operation.js";
import { NextPageToken, paging, Total, totalQuery } from "../paging.js";
import { refuseLongPast, type RequestContext } from "./request-context.js";

export const RunStatus = stringEnum(runStatuses, { description: "Where the run is in its life" });
export type RunStatus = Static<typeof RunStatus>;

export const RunError = object("RunError", {
  type: Type.String(),
  message: Type.String(),
  stack: Type.Optional(Type.String()),
  retryable: Type.Boolean(),
  fingerprint: Type.Optional(Type.String({ description: "Names its kind; see error groups" })),
});
export type RunError = Static<typeof RunError>;

const triggerKinds = ["schedule", "once", "run_now", "backfill", "retry", "replay", "after", "callback"] as const;

const Trigger = object("Trigger", {
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
});

const EarlierAttempt = object(
  "Attempt",
  {
    attempt: Type.Integer(),
    fence: Type.Integer(),
    worker_id: Type.String(),
    started_at: Timestamp,
    ended_at: Timestamp,
    outcome: stringEnum(["failed", "timeout", "worker_lost"]),
    error: nullable(RunError),
  },
  { description: "A try that ended without success" },
);

const Progress = object(
  "Progress",
  {
    fraction: Type.Number({ minimum: 0, maximum: 1 }),
    text: nullable(Type.String()),
    at: Timestamp,
  },
  { description: "What the run's handler said last of how far it is" },
);

export const WaitingOn = object(
  "WaitingOn",
  {
    code: Type.String({
      description:
        "As in explain: due_later, due_now, retry_later, overlap, queue_paused, limit_concurrency, limit_rate, limit_order, limit_pending, breaker_open, " +
        "position, no_worker_for_task, no_worker_for_queue, no_worker_for_version, no_worker_with_labels, only_spot_workers, workers_cordoned",
    }),
    detail: Type.String({ examples: ["no worker serves task pdf"] }),
  },
  { description: "What a run that is live and does not run waits for; where one run is asked for" },
);
export type WaitingOn = Static<typeof WaitingOn>;

const RunSla = object(
  "RunSla",
  {
    start_by: nullable(Timestamp),
    finish_by: nullable(Timestamp),
    breached: Type.Array(stringEnum(["start", "finish"]), { description: "What came later than that" }),
  },
  { description: "What was promised of it; of none that makes up for the past (retry, replay, backfill)" },
);

/** How a run went. */
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

export const RunSummary = object("RunSummary", course);
export type RunSummary = Static<typeof RunSummary>;

export const Run = object("Run", {
  ...course,
  job_id: nullable(Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] })),
  task: Type.String(),
  queue: Type.String(),
  priority: Type.Integer(),
  run_at: described(Timestamp, "When it may start: its time with jitter, or the next try"),
  deadline_at: nullable(described(Timestamp, "When it is to have ended, while it is live")),
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
  attempts: Type.Array(EarlierAttempt, {
    description: "The tries before the last one; of very many the last hundred",
  }),
  labels: Type.Record(Type.String(), Type.String()),
  owner: nullable(Type.String()),
  trace_id: nullable(Type.String({ description: "The trace of whoever asked for it, by W3C Trace Context" })),
});
export type Run = Static<typeof Run>;

export const RunList = object("RunList", {
  runs: Type.Array(Run),
  next_page_token: NextPageToken,
  total: Type.Optional(Total),
});
export type RunList = Static<typeof RunList>;

export const listFilters = {
  status: Type.Optional(
    NameFilter(
      "One or several, separated by commas. Also the groups pending, live, finished, and the words of other systems " +
        "(COMPLETED, success, failure …), in any case",
    ),
  ),
  task: Type.Optional(NameFilter("Only of this task")),
  queue: Type.Optional(NameFilter("Only in this queue")),
  owner: Type.Optional(NameFilter("Only of this owner")),
  user_id: Type.Optional(NameFilter("Other spelling of owner")),
  label_selector: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.selectorLength,
      description: "Only with such labels: a=b, a!=b, a in (b,c), a notin (b,c), a, !a, several with commas",
      examples: ["team=billing,region in (eu,us)"],
    }),
  ),
  created_after: Type.Optional(InstantText("Only those made at this time or later.")),
  created_before: Type.Optional(InstantText("Only those made before this time.")),
  order_by: Type.Optional(
    stringEnum(["created_at desc", "created_at asc"], {
      description: "The newest first, which is how lists are ordered anyway, or the oldest first",
    }),
  ),
  payload: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      propertyNames: { type: "string", minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern },
      additionalProperties: { type: "string", maxLength: limits.labelValueLength, pattern: printablePattern },
      maxProperties: limits.searchPaths,
      description:
        "payload.<path>=<value>: only those with this value in their payload. The path was declared by searchable; the value is a text, " +
        "a number or true or false, as it is written in JSON without quotes",
      examples: [{ "customer.id": "42" }],
    }),
  ),
  total: Type.Optional(totalQuery),
};

export const RunListQuery = closed({
  ...paging,
  ...listFilters,
  job_id: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  worker_id: Type.Optional(NameFilter("Only those that this worker has or had")),
  trigger: Type.Optional(stringEnum(triggerKinds, { description: "Only those that this asked for" })),
});
export type RunListQuery = Static<typeof RunListQuery>;

export const RunWaitQuery = closed({
  wait: Type.Optional(
    DurationText(
      `Answers when the run has ended, or after this time; more than ${limits.waitMs / 1_000}s counts as that.`,
      "10s",
    ),
  ),
});

export const RunReschedule = object(
  "RunReschedule",
  {
    at: Type.Optional(InstantText("When it is to run")),
    delay: Type.Optional(DurationText("How long from now, instead of a time.", "15m")),
  },
  { examples: [{ delay: "15m" }] },
);
export type RunReschedule = Static<typeof RunReschedule>;

const RunAttempt = object("RunAttempt", {
  attempt: Type.Integer(),
  worker_id: nullable(Type.String()),
  started_at: Timestamp,
  ended_at: nullable(Timestamp),
  outcome: stringEnum(["running", "succeeded", "failed", "timeout", "worker_lost", "cancelled"]),
  error: nullable(RunError),
});

export const RunAttempts = object("RunAttempts", { attempts: Type.Array(RunAttempt) });
export type RunAttempts = Static<typeof RunAttempts>;

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

const RunEvent = object("RunEvent", {
  at: Timestamp,
  type: stringEnum(runEventTypes),
  attempt: nullable(Type.Integer()),
  worker_id: nullable(Type.String()),
  run_id: nullable(Type.String({ description: "The run that was made in its place, or like it" })),
  detail: nullable(Type.String({ description: "Why, where there is a reason" })),
});

export const RunEvents = object(
  "RunEvents",
  { events: Type.Array(RunEvent) },
  { description: "What became of a run, oldest first: read from the run and its attempts" },
);
export type RunEvents = Static<typeof RunEvents>;

export const explanationFields = {
  detail: Type.String({ description: "The answer in one sentence, with its numbers" }),
  until: nullable(described(Timestamp, "When that changes by itself, where it is known")),
  facts: Type.Record(Type.String(), Type.Unknown(), { description: "The numbers and names of the sentence" }),
};

export const RunExplanation = object(
  "RunExplanation",
  {
    run_id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    status: RunStatus,
    code: Type.String({
      description:
        "ended, running, due_later, due_now, retry_later, overlap, queue_paused, limit_concurrency, limit_rate, limit_order, " +
        "limit_pending, breaker_open, position, no_worker_for_task, no_worker_for_queue, no_worker_for_version, no_worker_with_labels, " +
        "only_spot_workers, workers_cordoned",
    }),
    ...explanationFields,
  },
  { description: "Why a run does not run: the first thing that keeps it" },
);
export type RunExplanation = Static<typeof RunExplanation>;

export const RunRef = Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const listRuns = {
  method: "GET",
  path: "/v1/runs",
  aliases: [{ path: "/runs" }, { path: "/job/executions" }, { path: "/v1/job/executions" }],
  tag: "Runs",
  client: "runs.list",
  summary: "List runs, newest first",
  permission: "runs:read",
  rateClass: "read",
  query: RunListQuery,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: [
    ...queryErrors,
    "status_unknown",
    "label_selector_invalid",
    "path_not_searchable",
    "instant_invalid",
    "id_invalid",
    "page_token_invalid",
    "not_found",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const getRun = {
  method: "GET",
  path: "/v1/runs/{id}",
  aliases: [{ path: "/runs/{id}" }],
  tag: "Runs",
  client: "runs.get",
  summary: "Get a run",
  description: "As it is now, or with wait when it has ended.",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  query: RunWaitQuery,
  waits: true,
  answers: { 200: { description: "The run", schema: Run } },
  errors: ["not_found", ...queryErrors, "duration_invalid", ...storeErrors],
} as const satisfies Operation;

export const explainRun = {
  method: "GET",
  path: "/v1/runs/{id}/explain",
  aliases: [{ path: "/runs/{id}/explain" }],
  tag: "Runs",
  client: "runs.explain",
  summary: "Say why a run does not run",
  description: "One answer with its numbers: the first thing that keeps the run. Counts stop at 10,000.",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "The answer", schema: RunExplanation } },
  errors: getErrors,
} as const satisfies Operation;

export const cancelRun = {
  method: "POST",
  path: "/v1/runs/{id}:cancel",
  aliases: verbAliases("runs", "cancel"),
  tag: "Runs",
  client: "runs.cancel",
  summary: "Cancel a run",
  description: "One that waits ends; one that runs is asked to stop; one that has ended is answered as it is.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  answers: { 200: { description: "The run as it is now", schema: Run } },
  errors: writeErrors,
} as const satisfies Operation;

export const rescheduleRun = {
  method: "POST",
  path: "/v1/runs/{id}:reschedule",
  aliases: verbAliases("runs", "reschedule"),
  tag: "Runs",
  client: "runs.reschedule",
  summary: "Give a run another time",
  description: "Of runs that wait for their time, for their next try, or for a worker.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
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
  method: "GET",
  path: "/v1/runs/{id}/attempts",
  aliases: [{ path: "/runs/{id}/attempts" }],
  tag: "Runs",
  client: "runs.attempts",
  summary: "List the tries of a run, oldest first",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "All of them, the one that runs included", schema: RunAttempts } },
  errors: getErrors,
} as const satisfies Operation;

export const listRunEvents = {
  method: "GET",
  path: "/v1/runs/{id}/events",
  aliases: [{ path: "/runs/{id}/events" }],
  tag: "Runs",
  client: "runs.events",
  summary: "Show what became of a run, step by step",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "Oldest first", schema: RunEvents } },
  errors: getErrors,
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
