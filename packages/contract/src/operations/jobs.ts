import { JobCreate } from "../schema/job-create.js";
import { Job } from "../schema/job.js";
import { JobList, JobListQuery } from "../schema/page.js";
import { etag, JobRef } from "./job-address.js";
import { definitionErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

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
  errors: [...definitionErrors, "key_taken", ...storeErrors],
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
