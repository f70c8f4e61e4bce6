import { Type } from "typebox";
import { RunList, RunListQuery } from "../schema/page.js";
import { Run } from "../schema/run.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

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
  errors: [...queryErrors, "status_unknown", "id_invalid", "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getRun = {
  method: "GET",
  path: "/v1/runs/{id}",
  aliases: [{ path: "/runs/{id}" }],
  tag: "Runs",
  summary: "Get a run",
  permission: "runs:read",
  rateClass: "read",
  params: Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) }),
  answers: { 200: { description: "The run", schema: Run } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;
