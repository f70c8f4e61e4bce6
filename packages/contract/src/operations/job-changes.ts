import { JobCreate } from "../schema/job-create.js";
import { JobPatch } from "../schema/job-patch.js";
import { JobCancel, JobDeleteQuery, JobPause, JobResume, JobResumed, JobRollback } from "../schema/job-verbs.js";
import { Job } from "../schema/job.js";
import { etag, JobRef, verbAliases } from "./job-address.js";
import { bodyErrors, changeErrors, definitionErrors } from "./job-errors.js";
import type { Operation } from "./operation.js";

const changing = {
  tag: "Jobs",
  permission: "jobs:write",
  rateClass: "write",
  params: JobRef,
  conditional: true,
} as const;

const theJob = { description: "The job as it is now", schema: Job, headers: { ETag: etag } };

export const updateJob = {
  ...changing,
  method: "PATCH",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  summary: "Change parts of a job",
  description:
    "A merge patch. What is due by then fires under the definition before; the new one counts from now on. A patch that changes " +
    "nothing makes no new version.",
  body: JobPatch,
  answers: { 200: theJob },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

export const putJob = {
  ...changing,
  method: "PUT",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  summary: "Create or replace a job by its key",
  description:
    "Addressed as /v1/jobs/@{key}: creates the job or replaces its definition, so that the same call can be sent again. By its id " +
    "an existing job is replaced. Without a schedule a job that exists keeps the one instant that it has.",
  body: JobCreate,
  answers: {
    200: theJob,
    201: { description: "The new job", schema: Job, headers: { Location: "Where the job is", ETag: etag } },
  },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

export const deleteJob = {
  ...changing,
  method: "DELETE",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  summary: "Cancel a job",
  description: "The same as :cancel. The job fires no more and still answers GET.",
  query: JobDeleteQuery,
  answers: { 204: { description: "It is cancelled" } },
  errors: [...bodyErrors, "job_has_dependants", ...changeErrors],
} as const satisfies Operation;

export const cancelJob = {
  ...changing,
  method: "POST",
  path: "/v1/jobs/{id}:cancel",
  aliases: [
    ...verbAliases("cancel"),
    { path: "/task/{id}/cancel", foreign: true },
    { path: "/v1/task/{id}/cancel", foreign: true },
  ],
  summary: "Cancel a job for good",
  description: "It fires no more, runs that wait end, and its key is free again.",
  body: JobCancel,
  bodyOptional: true,
  answers: { 200: theJob },
  errors: [...bodyErrors, "job_has_dependants", ...changeErrors],
} as const satisfies Operation;

export const pauseJob = {
  ...changing,
  method: "POST",
  path: "/v1/jobs/{id}:pause",
  aliases: verbAliases("pause"),
  summary: "Pause a job",
  description: "It fires no more until it is resumed, or until the pause ends by itself. Runs that exist go on.",
  body: JobPause,
  bodyOptional: true,
  answers: { 200: theJob },
  errors: [...bodyErrors, "duration_invalid", "instant_invalid", ...changeErrors],
} as const satisfies Operation;

export const resumeJob = {
  ...changing,
  method: "POST",
  path: "/v1/jobs/{id}:resume",
  aliases: verbAliases("resume"),
  summary: "Resume a paused job",
  description:
    "Says how many occurrences lay inside the pause, and what becomes of them: none, the latest, or all. With dry_run it only " +
    "says how many. A job that is not paused is answered as it is.",
  body: JobResume,
  bodyOptional: true,
  answers: {
    200: { description: "The job, and what the pause left out", schema: JobResumed, headers: { ETag: etag } },
  },
  errors: [...bodyErrors, ...changeErrors],
} as const satisfies Operation;

export const rollbackJob = {
  ...changing,
  method: "POST",
  path: "/v1/jobs/{id}:rollback",
  aliases: verbAliases("rollback"),
  summary: "Go back to an earlier definition",
  description: "The definition of that version becomes a new version.",
  body: JobRollback,
  answers: { 200: theJob },
  errors: [
    ...bodyErrors,
    "version_unknown",
    "calendar_unknown",
    "upstream_unknown",
    "dependency_cycle",
    "schedule_in_past",
    ...changeErrors,
  ],
} as const satisfies Operation;
