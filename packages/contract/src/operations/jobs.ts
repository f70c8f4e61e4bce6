import { Type } from "typebox";
import { JobCreate } from "../schema/job-create.js";
import { Job } from "../schema/job.js";
import { JobList, JobListQuery, JobRunListQuery, RunList } from "../schema/page.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const JobRef = Type.Object({
  id: Type.String({
    description: "The job's id, or @ and its key",
    examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d", "@nightly-report"],
  }),
});

const etag = 'The job\'s version, as in "v7"';

export const createJob = {
  method: "POST",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs" }, { path: "/task", foreign: true }, { path: "/v1/task", foreign: true }],
  tag: "Jobs",
  summary: "Create a job",
  description: "Durable when it is answered. Without a schedule the job runs once, at once.",
  permission: "jobs:write",
  rateClass: "write",
  body: JobCreate,
  answers: {
    201: { description: "The job", schema: Job, headers: { Location: "Where the job is", ETag: etag } },
  },
  errors: [
    "json_invalid",
    ...queryErrors,
    "field_missing",
    "key_taken",
    "payload_too_large",
    "unsupported_media_type",
    "not_supported_yet",
    "cron_invalid",
    "cron_never_fires",
    "time_zone_unknown",
    "schedule_invalid",
    "schedule_in_past",
    "duration_invalid",
    "instant_invalid",
    "retry_invalid",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const listJobs = {
  method: "GET",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs" }],
  tag: "Jobs",
  summary: "List jobs, newest first",
  permission: "jobs:read",
  rateClass: "read",
  query: JobListQuery,
  answers: { 200: { description: "One page", schema: JobList } },
  errors: [...queryErrors, "status_unknown", "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getJob = {
  method: "GET",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }, { path: "/task/{id}", foreign: true }, { path: "/v1/task/{id}", foreign: true }],
  tag: "Jobs",
  summary: "Get a job",
  description: "For a one-off job the answer embeds its run, so that its status is one call.",
  permission: "jobs:read",
  rateClass: "read",
  params: JobRef,
  answers: { 200: { description: "The job", schema: Job, headers: { ETag: etag } } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const listJobRuns = {
  method: "GET",
  path: "/v1/jobs/{id}/runs",
  aliases: [{ path: "/jobs/{id}/runs" }],
  tag: "Jobs",
  summary: "List the runs of a job, newest first",
  permission: "runs:read",
  rateClass: "read",
  params: JobRef,
  query: JobRunListQuery,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: ["not_found", ...queryErrors, "status_unknown", "page_token_invalid", ...storeErrors],
} as const satisfies Operation;
