import { Type } from "typebox";
import { RunList, RunListQuery } from "../schema/page.js";
import { RunBatch, RunBatchCreated, RunCreate, RunCreated, RunWaitQuery } from "../schema/run-create.js";
import { RunLog, RunLogQuery } from "../schema/run-log.js";
import { Run } from "../schema/run.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

export const createRun = {
  method: "POST",
  path: "/v1/runs",
  aliases: [{ path: "/runs" }],
  tag: "Runs",
  summary: "Ask for a run",
  description:
    "Durable when it is answered. With dedupe the answer may be a run that was there before: is_new and the status say so. " +
    "With wait it is answered when the run has ended, or after that time as the run is then.",
  permission: "runs:write",
  rateClass: "write",
  query: RunWaitQuery,
  body: RunCreate,
  waits: true,
  answers: {
    200: { description: "The run that counts for the same dedupe key", schema: RunCreated },
    201: { description: "The new run", schema: RunCreated, headers: { Location: "Where the run is" } },
  },
  errors: [
    ...bodyErrors,
    "duration_invalid",
    "instant_invalid",
    "schedule_in_past",
    "retry_invalid",
    "limit_invalid",
    "template_invalid",
    "template_value_missing",
    "template_value_invalid",
    "payload_invalid",
    "address_refused",
    "run_duplicate",
    "dedupe_busy",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const createRuns = {
  method: "POST",
  path: "/v1/runs:batchCreate",
  aliases: [{ path: "/runs:batchCreate" }],
  tag: "Runs",
  summary: "Ask for many runs at once",
  description: "Each run is stored or refused by itself. Those that were stored are durable when it is answered.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBatch,
  answers: { 200: { description: "What became of each", schema: RunBatchCreated } },
  errors: [...bodyErrors, ...storeErrors],
} as const satisfies Operation;

export const listRuns = {
  method: "GET",
  path: "/v1/runs",
  aliases: [{ path: "/runs" }, { path: "/job/executions" }, { path: "/v1/job/executions" }],
  tag: "Runs",
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

const RunRef = Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const listRunLogs = {
  method: "GET",
  path: "/v1/runs/{id}/logs",
  aliases: [{ path: "/runs/{id}/logs" }],
  tag: "Runs",
  summary: "Read what a run logged",
  description:
    "In the order in which it was written, attempt after attempt. With follow the call waits up to 20 s for lines after the page " +
    "token, until the run has ended; next_page_token is null when nothing more will come.",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  query: RunLogQuery,
  waits: true,
  answers: { 200: { description: "Some lines", schema: RunLog } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getRun = {
  method: "GET",
  path: "/v1/runs/{id}",
  aliases: [{ path: "/runs/{id}" }],
  tag: "Runs",
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
