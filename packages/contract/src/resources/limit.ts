import { limitKinds, limitScopes, mostLimit, orderFailures } from "@carillon/core";
import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import {
  readDuration,
  Count,
  DurationText,
  nullable,
  stringEnum,
  Timestamp,
  object,
  closed,
  present,
} from "../fields.js";
import { bodyErrors, type Operation, storeErrors, getErrors, listErrors } from "../operation.js";
import { paging, pageOf } from "../paging.js";
import { rateWindowBounds } from "./run-limits.js";

const Scope = stringEnum(limitScopes, { description: "What it is of: a key, a task, a job, a queue or the namespace" });
const Kind = stringEnum(limitKinds, { description: "concurrency, rate, or order for an ordering key" });

export const Limit = object("Limit", {
  id: Type.String({ examples: ["lim_42"] }),
  scope: Scope,
  kind: Kind,
  key: Type.String({ description: "The key; of a job its id, of a queue or a task its name" }),
  limit: Type.Integer({ minimum: 0 }),
  per: nullable(Type.String({ description: "Of a rate: the length of the window", examples: ["1m"] })),
  burst: nullable(Type.Integer({ description: "Of a rate: so many may be admitted and wait for a worker" })),
  on_failure: nullable(stringEnum(orderFailures)),
  fixed: Type.Boolean({ description: "An operator has set it: what runs say of it does not count" }),
  used: Count("Runs that hold it; of a rate those that started within the window, or may start at any time"),
  waiting: Count("Runs that need it and wait, for this limit or another"),
  waiting_exact: Type.Boolean({ description: "False: there are more than were counted" }),
  oldest_waiting_at: nullable(Timestamp),
  next_room_at: nullable(Timestamp),
  stopped_by: nullable(
    Type.String({ description: "Of an ordering key: the failed run that everything behind it waits for" }),
  ),
});
export type Limit = Static<typeof Limit>;

export const LimitQuery = closed({
  ...paging,
  scope: Type.Optional(Scope),
  kind: Type.Optional(Kind),
  key: Type.Optional(Type.String({ maxLength: 200, description: "The whole key, filled in" })),
});
export type LimitQuery = Static<typeof LimitQuery>;

export const LimitPatch = object(
  "LimitPatch",
  {
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: mostLimit, description: "0 lets nothing start" })),
    per: Type.Optional(DurationText("Of a rate: the length of the window, 31 days at most.", "1m")),
    burst: Type.Optional(Type.Integer({ minimum: 1, maximum: mostLimit })),
    fixed: Type.Optional(Type.Boolean({ description: "false gives it back: what runs say of it counts again" })),
  },
  {
    description: "What is left out stays. From then on the limit is fixed, unless fixed is false",
    examples: [{ limit: 5 }],
  },
);
export type LimitPatch = Static<typeof LimitPatch>;

export const LimitList = pageOf("LimitList", { limits: Type.Array(Limit) });
export type LimitList = Static<typeof LimitList>;

const reads = { tag: "Limits", permission: "limits:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ id: Type.String({ examples: ["lim_42"] }) });
const writes = { tag: "Limits", permission: "limits:write", rateClass: "write", params } as const;
const theLimit = { description: "The limit as it is now", schema: Limit };

export const listLimits = {
  ...reads,
  path: "/v1/limits",
  client: "limits.list",
  summary: "List limits",
  description: "Those that runs use or used within the last hour, and those that an operator has set.",
  query: LimitQuery,
  answers: { 200: { description: "One page", schema: LimitList } },
  errors: listErrors,
} as const satisfies Operation;

export const getLimit = {
  ...reads,
  path: "/v1/limits/{id}",
  client: "limits.get",
  summary: "Get a limit",
  params,
  answers: { 200: theLimit },
  errors: getErrors,
} as const satisfies Operation;

export const updateLimit = {
  ...writes,
  method: "PATCH",
  path: "/v1/limits/{id}",
  client: "limits.update",
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
  client: "limits.resume",
  summary: "Let the runs behind a failed one go on",
  description: "For an ordering key that stands since a run failed: the failed run stays as it is.",
  answers: { 200: theLimit },
  errors: [...bodyErrors, "not_found", "limit_invalid", ...storeErrors],
} as const satisfies Operation;

export type LimitChange = ReturnType<typeof readLimitPatch>;

export function readLimitPatch(body: unknown) {
  return readBody(LimitPatch, body, ({ limit, per, burst, fixed }, findings) =>
    present({ limit, perMs: readDuration(per, "/per", findings, rateWindowBounds), burst, isFixed: fixed }),
  );
}
