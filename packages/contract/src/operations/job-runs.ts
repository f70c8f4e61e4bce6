import { JobRunListQuery, RunList } from "../schema/page.js";
import { JobRunNow } from "../schema/job-verbs.js";
import { RunWaitQuery } from "../schema/run-create.js";
import { Run } from "../schema/run.js";
import { JobRef, verbAliases } from "./job-address.js";
import { bodyErrors, changeErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

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
  errors: [
    "not_found",
    ...queryErrors,
    "status_unknown",
    "label_selector_invalid",
    "path_not_searchable",
    "instant_invalid",
    "page_token_invalid",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const runJobNow = {
  method: "POST",
  path: "/v1/jobs/{id}:runNow",
  aliases: verbAliases("runNow"),
  tag: "Jobs",
  summary: "Run a job now",
  description:
    "A run with an identity of its own, which does not move the schedule; a paused job runs as well. While another run of the job is " +
    "live it follows the overlap policy (refused under skip, waiting under queue_one and queue_all), unless force is said.",
  permission: "runs:write",
  rateClass: "write",
  params: JobRef,
  conditional: true,
  query: RunWaitQuery,
  body: JobRunNow,
  waits: true,
  bodyOptional: true,
  answers: { 201: { description: "The run", schema: Run, headers: { Location: "Where the run is" } } },
  errors: [
    ...bodyErrors,
    "duration_invalid",
    "retry_invalid",
    "template_value_missing",
    "template_value_invalid",
    "overlap_refused",
    ...changeErrors,
  ],
} as const satisfies Operation;
