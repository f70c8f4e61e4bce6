import { jobStates, jobStatuses, missedChoices } from "@carillon/core";
import { type Static, Type } from "typebox";
import { keysPattern, maxKeys } from "../bounds.js";
import { described, nullable, stringEnum, Timestamp, closed, object } from "../fields.js";
import { type Operation, queryErrors, storeErrors, getErrors } from "../operation.js";
import { NextPageToken, paging, Total } from "../paging.js";
import { BreakerAnswer } from "./breaker.js";
import { Callback } from "./end-callback.js";
import { firingAnswer } from "./firing-policy.js";
import { Schedule } from "./job-schedule.js";
import { limitAnswer } from "./run-limits.js";
import { Guarantee, Retry, Sla } from "./run-policy.js";
import { listFilters, Run, RunSummary } from "./run.js";

export const JobRef = Type.Object({
  id: Type.String({
    description: "The job's id, or @ and its key",
    examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d", "@nightly-report"],
  }),
});

export const etag = 'The job\'s version, as in "v7"';

export const JobStatus = stringEnum(jobStatuses, {
  description: "That of its live run; else scheduled, paused, completed, failed or cancelled",
});
export type JobStatus = Static<typeof JobStatus>;

export const MissedChoice = stringEnum(missedChoices, {
  description: "What becomes of the occurrences inside a pause when it ends; none by default",
});

export const Warning = object(
  "Warning",
  { code: Type.String(), detail: Type.String(), at: Type.Optional(Timestamp) },
  { description: "Allowed, but perhaps not what was meant" },
);

/** What a job is, as opposed to what becomes of it. */
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
  requires: Type.Record(Type.String(), Type.String(), { description: "Labels that its workers must have" }),
  ...limitAnswer,
  task_version: nullable(Type.String({ description: "The version of the task that its workers must have" })),
  breaker: nullable(BreakerAnswer),
  allow_spot: Type.Boolean({ description: "Whether workers that may go at any time get its runs too" }),
  callbacks: Type.Array(Callback, { description: "Who is told of the ends of its runs" }),
  priority: Type.Integer({ minimum: 0, maximum: 9 }),
  queue: Type.String(),
  ...firingAnswer,
  labels: Type.Record(Type.String(), Type.String()),
  searchable: Type.Array(Type.String(), { description: "Paths of the payload by which it and its runs are found" }),
  owner: nullable(Type.String()),
};

export const JobDefinition = object("JobDefinition", definition);
export type JobDefinition = Static<typeof JobDefinition>;

const JobPauseState = object("Pause", {
  reason: nullable(Type.String()),
  actor: nullable(Type.String({ description: "Who paused it, where that is known" })),
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
  met_by: nullable(Type.String({ description: "The latest run that fits, since this job was started last" })),
  met_at: nullable(Timestamp),
});

const Downstream = object("JobDownstream", neighbour);

export const Job = object("Job", {
  id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  ...definition,
  state: stringEnum(jobStates, {
    description: "completed: nothing is left to fire",
  }),
  pause: nullable(described(JobPauseState, "Of a paused job")),
  status: JobStatus,
  version: Type.Integer({ minimum: 1, description: "Grows with every change; also the ETag" }),
  next_run_at: nullable(Timestamp),
  next_run_local: nullable(
    Type.String({ description: "The same instant on the clocks of the schedule's zone, with its offset" }),
  ),
  description: Type.String({ description: "The schedule in words", examples: ["Every 15 minutes"] }),
  warnings: Type.Optional(Type.Array(Warning, { description: "Where the answer is about one job" })),
  upstream: Type.Optional(
    Type.Array(Upstream, { description: "What it waits for, where the answer is about one job" }),
  ),
  downstream: Type.Optional(Type.Array(Downstream, { description: "The first 100 that wait for it" })),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_run: nullable(RunSummary),
  run: Type.Optional(described(Run, "Of a one-off job, where the answer is about one job: its run, in full")),
  job_id: Type.Optional(Type.String({ description: "The id once more, where the request used another spelling" })),
  task_id: Type.Optional(Type.String({ description: "The id once more, where the request used another spelling" })),
  log_url: Type.Optional(
    Type.String({
      description: "Where the lines of its last run are, where the request used another spelling and there is one",
      examples: ["/v1/runs/run_01k9zq3v5e0r8t2b7n4m6x1c9d/logs"],
    }),
  ),
});
export type Job = Static<typeof Job>;

export type JobWarning = Static<typeof Warning>;

export const JobList = object("JobList", {
  jobs: Type.Array(Job),
  next_page_token: NextPageToken,
  total: Type.Optional(Total),
});
export type JobList = Static<typeof JobList>;

export const JobListQuery = closed({
  ...paging,
  ...listFilters,
  key: Type.Optional(
    Type.String({
      pattern: keysPattern,
      description: `Only the jobs that have these keys now, up to ${maxKeys}, separated by commas; with no other parameter`,
      examples: ["nightly-report,weekly-report"],
    }),
  ),
});
export type JobListQuery = Static<typeof JobListQuery>;

export const listJobs = {
  method: "GET",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs" }],
  tag: "Jobs",
  client: "jobs.list",
  summary: "List jobs, newest first",
  permission: "jobs:read",
  rateClass: "read",
  query: JobListQuery,
  answers: { 200: { description: "One page", schema: JobList } },
  errors: [
    ...queryErrors,
    "status_unknown",
    "label_selector_invalid",
    "path_not_searchable",
    "instant_invalid",
    "page_token_invalid",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const getJob = {
  method: "GET",
  path: "/v1/jobs/{id}",
  aliases: [
    { path: "/jobs/{id}" },
    { path: "/task/{id}", legacySpelling: true },
    { path: "/v1/task/{id}", legacySpelling: true },
  ],
  tag: "Jobs",
  client: "jobs.get",
  summary: "Get a job",
  description: "For a one-off job the answer embeds its run, so that its status is one call.",
  permission: "jobs:read",
  rateClass: "read",
  params: JobRef,
  answers: { 200: { description: "The job", schema: Job, headers: { ETag: etag } } },
  errors: getErrors,
} as const satisfies Operation;
