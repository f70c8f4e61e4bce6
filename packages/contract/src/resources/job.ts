import { jobStates, jobStatuses, missedChoices } from "@carillon/core";
import { type Static, Type } from "typebox";
import { jobRefPattern, jobStatusesPattern, keysPattern, maxKeys } from "../bounds.js";
import { closed, described, nullable, object, stringEnum, Text, Timestamp } from "../fields.js";
import { filterErrors, getErrors, type Operation, queryErrors, singleAnswer, storeErrors } from "../operation.js";
import { NextPageToken, paging, Total } from "../paging.js";
import { BreakerAnswer } from "./breaker.js";
import { Callback } from "./end-callback.js";
import { firingAnswer } from "./firing-policy.js";
import { Schedule } from "./job-schedule.js";
import { limitAnswer } from "./run-limits.js";
import { Guarantee, Retry, Sla } from "./run-policy.js";
import { filterRules, listFilters, Run, RunSummary, StatusFilter } from "./run.js";
import { Warning } from "./warning.js";

export const JobRef = Type.Object({
  id: Type.String({
    format: "job-name",
    pattern: jobRefPattern,
    description: "The id of the job, or @ followed by its key",
    examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d", "@nightly-report"],
  }),
});

export const etag = 'The job\'s version, as in "v7"';

export const JobStatus = stringEnum(jobStatuses, {
  description: "The status of its live run, or scheduled, paused, completed, failed or cancelled",
});
export type JobStatus = Static<typeof JobStatus>;

export const MissedChoice = stringEnum(missedChoices, {
  description: "Which of the occurrences inside a pause fire when it ends; none by default",
});

/** The definition of a job, as opposed to its state. */
const definition = {
  key: nullable(Type.String()),
  task: Type.String(),
  payload: Type.Unknown(),
  schedule: Schedule,
  retry: Retry,
  timeout: nullable(Type.String({ examples: ["2m"] })),
  deadline: nullable(Type.String({ examples: ["30m"] })),
  sla: nullable(Sla),
  guarantee: Guarantee,
  requires: Type.Record(Type.String(), Type.String(), {
    description: "Labels that a worker must have to get its runs",
  }),
  ...limitAnswer,
  task_version: nullable(Text("The version of the task that a worker must have to get its runs")),
  breaker: nullable(BreakerAnswer),
  allow_spot: Type.Boolean({ description: "Whether spot workers, which may disappear at any time, get its runs, too" }),
  callbacks: Type.Array(Callback, { description: "Where the ends of its runs are reported" }),
  priority: Type.Integer({ minimum: 0, maximum: 9 }),
  queue: Type.String(),
  ...firingAnswer,
  labels: Type.Record(Type.String(), Type.String()),
  searchable: Type.Array(Type.String(), {
    description: "Paths of the payload by which lists find the job and its runs",
  }),
  owner: nullable(Type.String()),
};

export const JobDefinition = object("JobDefinition", definition);
export type JobDefinition = Static<typeof JobDefinition>;

const JobPauseState = object("Pause", {
  reason: nullable(Type.String()),
  actor: nullable(Text("Who paused it, where that is known")),
  at: Timestamp,
  until: nullable(Timestamp),
  missed: MissedChoice,
});

const neighbour = {
  job_id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  key: nullable(Type.String()),
  on: stringEnum(["success", "failure", "finish"]),
  when: nullable(Type.String()),
  state: stringEnum(jobStates),
};

const Upstream = object("JobUpstream", {
  ...neighbour,
  met_by: nullable(Text("The latest run that meets the condition since this job last started")),
  met_at: nullable(Timestamp),
});

const Downstream = object("JobDownstream", neighbour);

export const Job = object("Job", {
  id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  ...definition,
  state: stringEnum(jobStates, {
    description: "completed: nothing remains to fire",
  }),
  pause: nullable(described(JobPauseState, "Details of the pause, if the job is paused")),
  status: JobStatus,
  version: Type.Integer({ minimum: 1, description: "Increases with every change; also the ETag" }),
  next_run_at: nullable(
    described(Timestamp, "Of a paused job: the first fire after the end of its pause, null if that has no end"),
  ),
  next_run_local: nullable(Text("The same instant in the schedule's time zone, with its offset")),
  description: Type.String({ description: "The schedule in words", examples: ["Every 15 minutes"] }),
  warnings: Type.Optional(Type.Array(Warning, { description: "Only in an answer about a single job" })),
  upstream: Type.Optional(
    Type.Array(Upstream, { description: "The jobs that it depends on; only in an answer about a single job" }),
  ),
  downstream: Type.Optional(Type.Array(Downstream, { description: "The first 100 jobs that depend on it" })),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_run: nullable(RunSummary),
  run: Type.Optional(described(Run, "The run of a one-off job; only in an answer about a single job")),
});
export type Job = Static<typeof Job>;

export const JobList = object("JobList", {
  jobs: Type.Array(Job),
  next_page_token: NextPageToken,
  total: Type.Optional(Total),
});
export type JobList = Static<typeof JobList>;

export const JobListQuery = closed({
  ...paging,
  ...listFilters,
  status: StatusFilter(jobStatusesPattern),
  key: Type.Optional(
    Type.String({
      pattern: keysPattern,
      description: `Only the jobs that have these keys now, up to ${maxKeys}, separated by commas. No other parameter is allowed with it`,
      examples: ["nightly-report,weekly-report"],
    }),
  ),
});
export type JobListQuery = Static<typeof JobListQuery>;

const reads = { method: "GET", tag: "Jobs", permission: "jobs:read", rateClass: "read" } as const;

export const listJobs = {
  ...reads,
  path: "/v1/jobs",
  aliases: [{ path: "/jobs", legacySpelling: true }],
  client: "jobs.list",
  summary: "List jobs, newest first",
  query: JobListQuery,
  rules: [...filterRules, { code: "field_invalid", rule: "No other filter goes with key, and no total with status" }],
  ...singleAnswer(JobList, "One page", [...queryErrors, ...filterErrors, "page_token_invalid", ...storeErrors]),
} as const satisfies Operation;

export const getJob = {
  ...reads,
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}", legacySpelling: true }],
  client: "jobs.get",
  summary: "Get a job",
  description: "For a one-off job the answer includes its run, so that one call is enough for its status.",
  params: JobRef,
  answers: { 200: { description: "The job", schema: Job, headers: { ETag: etag } } },
  errors: getErrors,
} as const satisfies Operation;

/** What the operations that change one job share. */
export const changesJob = {
  tag: "Jobs",
  permission: "jobs:write",
  rateClass: "write",
  params: JobRef,
  conditional: true,
} as const;

export const theJob = { description: "The job as it is now", schema: Job, headers: { ETag: etag } };
