import { askedOf, type BreakerPolicy, formatDuration, type RunPolicy } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, namePattern, policyTimeBounds } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import {
  AnyName,
  Count,
  DurationText,
  nullable,
  object,
  readDuration,
  stringEnum,
  Text,
  Timestamp,
  WholeNumber,
} from "../fields.js";
import { getErrors, type Operation, pageAnswer, verb, writeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";

export const BreakerRequest = object(
  "BreakerRequest",
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: namePattern,
        description: "The name of the breaker, which all jobs with this name share; the task by default",
        examples: ["payments-api"],
      }),
    ),
    failure_ratio: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 1,
        description: "The ratio of failed attempts at which it opens; 0.5 by default",
      }),
    ),
    window: Type.Optional(
      DurationText("The time over which attempts are counted; 1m by default.", "1m", policyTimeBounds),
    ),
    min_calls: Type.Optional(
      WholeNumber(1, 1_000_000, "The fewest attempts in the window for it to open; 10 by default"),
    ),
    open_for: Type.Optional(
      DurationText("How long it stays open before it tries one run; 30s by default.", "30s", policyTimeBounds),
    ),
  },
  {
    description:
      "A circuit breaker. While it is open its runs wait, without using attempts. It opens by the ratio of failures, which " +
      "each node counts for itself, or at once for as long as a Retry-After says",
    examples: [{ name: "payments-api", failure_ratio: 0.5, window: "1m", min_calls: 20, open_for: "30s" }],
  },
);
export type BreakerRequest = Static<typeof BreakerRequest>;

export const BreakerAnswer = object("BreakerAnswer", {
  name: Type.String(),
  failure_ratio: Type.Number(),
  window: Type.String(),
  min_calls: Type.Integer(),
  open_for: Type.String(),
});

export const Breaker = object("Breaker", {
  name: Type.String(),
  state: stringEnum(["closed", "open", "half_open"], {
    description: "open: its runs wait; half_open: it tries one of them",
  }),
  reason: Text("Why it last opened"),
  opened_at: Timestamp,
  probe_at: nullable(Timestamp),
  openings: Count("The number of times that it has opened"),
  updated_at: Timestamp,
});
export type Breaker = Static<typeof Breaker>;

export const BreakerList = pageOf("BreakerList", { breakers: Type.Array(Breaker) });
export type BreakerList = Static<typeof BreakerList>;

const reads = { tag: "Breakers", permission: "queues:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ name: AnyName("payments-api") });
const theBreaker = { description: "The breaker as it is now", schema: Breaker };

export const listBreakers = {
  ...reads,
  path: "/v1/breakers",
  client: "breakers.list",
  summary: "List circuit breakers by name",
  query: PageQuery,
  ...pageAnswer(BreakerList),
} as const satisfies Operation;

export const getBreaker = {
  ...reads,
  path: "/v1/breakers/{name}",
  client: "breakers.get",
  summary: "Get a circuit breaker",
  params,
  answers: { 200: theBreaker },
  errors: getErrors,
} as const satisfies Operation;

export const resetBreaker = {
  tag: "Breakers",
  permission: "queues:write",
  rateClass: "write",
  ...verb("/v1/breakers/{name}:reset"),
  client: "breakers.reset",
  summary: "Close a circuit breaker",
  description:
    "Its waiting runs are dispatched again, and it opens again if they fail. Other nodes follow within a second.",
  params,
  answers: { 200: theBreaker },
  errors: writeErrors,
} as const satisfies Operation;

const breakerDefaults = { failureRatio: 0.5, windowMs: 60_000, minCalls: 10, openForMs: 30_000 } as const;

export function readBreaker(given: BreakerRequest, findings: Findings): BreakerPolicy {
  const { failure_ratio: failureRatio, min_calls: minCalls, window, open_for: openFor } = given;
  return {
    failureRatio: failureRatio ?? breakerDefaults.failureRatio,
    windowMs: readDuration(window, "/breaker/window", findings, policyTimeBounds) ?? breakerDefaults.windowMs,
    minCalls: minCalls ?? breakerDefaults.minCalls,
    openForMs: readDuration(openFor, "/breaker/open_for", findings, policyTimeBounds) ?? breakerDefaults.openForMs,
  };
}

export function breakerRequest({ breaker, requires }: RunPolicy): { readonly breaker?: BreakerRequest } {
  if (breaker === undefined) return {};
  const name = askedOf(requires).breaker ?? undefined;
  const { failureRatio, windowMs, minCalls, openForMs } = breaker;
  const times = { window: formatDuration(windowMs), open_for: formatDuration(openForMs) };
  return {
    breaker: { ...(name !== undefined && { name }), failure_ratio: failureRatio, min_calls: minCalls, ...times },
  };
}
