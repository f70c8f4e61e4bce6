import { Type } from "typebox";
import { BulkCount, BulkOperation, OperationList, RunBulk } from "../schema/bulk.js";
import { PageQuery } from "../schema/job-history.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const OperationRef = Type.Object({ id: Type.String({ examples: ["op_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const bulkRuns = {
  method: "POST",
  path: "/v1/runs:bulk",
  aliases: [{ path: "/runs:bulk" }],
  tag: "Operations",
  summary: "Do the same to many runs",
  description:
    "Goes on by itself, also when the node that began it dies, and can be watched and aborted. What cannot be done to a run does not " +
    "keep it from the others.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBulk,
  answers: {
    200: { description: "How many runs it would be about, for a dry run", schema: BulkCount },
    202: { description: "The operation", schema: BulkOperation, headers: { Location: "Where it is" } },
  },
  errors: [
    ...bodyErrors,
    "status_unknown",
    "label_selector_invalid",
    "instant_invalid",
    "id_invalid",
    "not_found",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const listOperations = {
  method: "GET",
  path: "/v1/operations",
  tag: "Operations",
  summary: "List operations, newest first",
  permission: "runs:read",
  rateClass: "read",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: OperationList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getOperation = {
  method: "GET",
  path: "/v1/operations/{id}",
  tag: "Operations",
  summary: "Show how far an operation is",
  permission: "runs:read",
  rateClass: "read",
  params: OperationRef,
  answers: { 200: { description: "The operation as it is now", schema: BulkOperation } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const abortOperation = {
  method: "POST",
  path: "/v1/operations/{id}:abort",
  aliases: [{ path: "/v1/operations/{id}/abort" }],
  tag: "Operations",
  summary: "Stop an operation",
  description: "What it did stays done. One that has ended is answered as it is.",
  permission: "runs:write",
  rateClass: "write",
  params: OperationRef,
  answers: { 200: { description: "The operation as it is now", schema: BulkOperation } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
