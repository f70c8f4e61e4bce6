import { Type } from "typebox";
import { Limit, LimitList, LimitPatch, LimitQuery } from "../schema/limit.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { tag: "Limits", permission: "limits:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ id: Type.String({ examples: ["lim_42"] }) });
const writes = { tag: "Limits", permission: "limits:write", rateClass: "write", params } as const;
const theLimit = { description: "The limit as it is now", schema: Limit };

export const listLimits = {
  ...reads,
  path: "/v1/limits",
  summary: "List limits",
  description: "Those that runs use or used within the last hour, and those that an operator has set.",
  query: LimitQuery,
  answers: { 200: { description: "One page", schema: LimitList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getLimit = {
  ...reads,
  path: "/v1/limits/{id}",
  summary: "Get a limit",
  params,
  answers: { 200: theLimit },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const updateLimit = {
  ...writes,
  method: "PATCH",
  path: "/v1/limits/{id}",
  summary: "Change a limit",
  description: "Counts for what is admitted from now on; what runs goes on.",
  body: LimitPatch,
  answers: { 200: theLimit },
  errors: [...bodyErrors, "not_found", "duration_invalid", "limit_invalid", ...storeErrors],
} as const satisfies Operation;

export const resumeLimit = {
  ...writes,
  method: "POST",
  path: "/v1/limits/{id}:resume",
  aliases: [{ path: "/v1/limits/{id}/resume" }],
  summary: "Let the runs behind a failed one go on",
  description: "For an ordering key that stands since a run failed: the failed run stays as it is.",
  answers: { 200: theLimit },
  errors: [...bodyErrors, "not_found", "limit_invalid", ...storeErrors],
} as const satisfies Operation;
