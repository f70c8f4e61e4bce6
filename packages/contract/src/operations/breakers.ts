import { Type } from "typebox";
import { Breaker, BreakerList } from "../schema/breaker.js";
import { PageQuery } from "../schema/job-history.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { tag: "Breakers", permission: "queues:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ name: Type.String({ examples: ["payments-api"] }) });
const theBreaker = { description: "The breaker as it is now", schema: Breaker };

export const listBreakers = {
  ...reads,
  path: "/v1/breakers",
  summary: "List circuit breakers that have opened, by name",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: BreakerList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getBreaker = {
  ...reads,
  path: "/v1/breakers/{name}",
  summary: "Get a circuit breaker",
  params,
  answers: { 200: theBreaker },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const resetBreaker = {
  tag: "Breakers",
  permission: "queues:write",
  rateClass: "write",
  method: "POST",
  path: "/v1/breakers/{name}:reset",
  aliases: [{ path: "/v1/breakers/{name}/reset" }],
  summary: "Close a circuit breaker",
  description:
    "What waits behind it is handed out again; it opens anew if that fails. Other nodes follow within a second.",
  params,
  answers: { 200: theBreaker },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
