import { limitKinds, limitScopes, maxLimit, orderFailures, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limitIdPattern } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  closed,
  Count,
  DurationText,
  Flag,
  nullable,
  object,
  readDuration,
  stringEnum,
  Text,
  Timestamp,
  WholeNumber,
} from "../fields.js";
import { bodyErrors, getErrors, type Operation, pageAnswer, storeErrors, verb } from "../operation.js";
import { pageOf, paging } from "../paging.js";
import { rateWindowBounds } from "./run-limits.js";

const Scope = stringEnum(limitScopes, {
  description: "What the limit applies to: a key, a task, a job, a queue or the namespace",
});
const Kind = stringEnum(limitKinds, {
  description: "The kind of limit: concurrency, rate, or order for an ordering key",
});

export const Limit = object("Limit", {
  id: Type.String({ examples: ["lim_42"] }),
  scope: Scope,
  kind: Kind,
  key: Text("The key; for a job its id, for a queue or a task its name"),
  limit: Type.Integer({ minimum: 0 }),
  per: nullable(Type.String({ description: "For a rate: the length of the window", examples: ["1m"] })),
  burst: nullable(
    Type.Integer({ description: "For a rate: the number of runs that may be admitted and wait for a worker" }),
  ),
  on_failure: nullable(stringEnum(orderFailures)),
  fixed: Type.Boolean({ description: "An operator has set it, so the values in requests are ignored" }),
  used: Count("Runs that count against it; for a rate, runs that started within the window or are admitted to start"),
  waiting: Count("Runs that need it and wait, for this limit or another one"),
  waiting_exact: Type.Boolean({ description: "False if there are more than were counted" }),
  oldest_waiting_at: nullable(Timestamp),
  next_room_at: nullable(Timestamp),
  stopped_by: nullable(Text("For an ordering key: the failed run that the runs behind it wait for")),
});
export type Limit = Static<typeof Limit>;

export const LimitQuery = closed({
  ...paging,
  scope: Type.Optional(Scope),
  kind: Type.Optional(Kind),
  key: Type.Optional(
    Type.String({ maxLength: 200, description: "The complete key, with its template values filled in" }),
  ),
});
export type LimitQuery = Static<typeof LimitQuery>;

export const LimitPatch = object(
  "LimitPatch",
  {
    limit: Type.Optional(WholeNumber(0, maxLimit, "The limit; with 0 no run starts")),
    per: Type.Optional(DurationText("For a rate: the length of the window, at most 31 days.", "1m", rateWindowBounds)),
    burst: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit })),
    fixed: Flag("With false, the values in requests apply again"),
  },
  {
    description: "Members that are left out stay. The limit becomes fixed, unless fixed is false",
    examples: [{ limit: 5 }],
    "x-carillon-rules": [
      {
        code: "limit_invalid",
        rule: "per and burst are only for a rate; an ordering key and the limit of a queue do not change here",
      },
    ],
  },
);
export type LimitPatch = Static<typeof LimitPatch>;

export const LimitList = pageOf("LimitList", { limits: Type.Array(Limit) });
export type LimitList = Static<typeof LimitList>;

const reads = { tag: "Limits", permission: "limits:read", rateClass: "read", method: "GET" } as const;
const params = Type.Object({ id: Type.String({ pattern: limitIdPattern, examples: ["lim_42"] }) });
const writes = { tag: "Limits", permission: "limits:write", rateClass: "write", params } as const;
const theLimit = { description: "The limit as it is now", schema: Limit };

export const listLimits = {
  ...reads,
  path: "/v1/limits",
  client: "limits.list",
  summary: "List limits",
  description: "Limits that runs use or used within the last hour, and limits that an operator has set.",
  query: LimitQuery,
  ...pageAnswer(LimitList),
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
  description: "Applies to runs that are admitted from now on. Running ones continue.",
  body: LimitPatch,
  answers: { 200: theLimit },
  errors: [...bodyErrors, "not_found", "duration_invalid", "limit_invalid", ...storeErrors],
} as const satisfies Operation;

export const resumeLimit = {
  ...writes,
  ...verb("/v1/limits/{id}:resume"),
  client: "limits.resume",
  summary: "Resume an ordering key",
  rules: [{ code: "limit_invalid", rule: "The limit is an ordering key" }],
  description: "Lets the runs behind a failed one continue. The failed run stays as it is.",
  answers: { 200: theLimit },
  errors: [...bodyErrors, "not_found", "limit_invalid", ...storeErrors],
} as const satisfies Operation;

export type LimitChange = ReturnType<typeof readLimitPatch>;

export function readLimitPatch(body: unknown) {
  return readBody(LimitPatch, body, ({ limit, per, burst, fixed }, findings) =>
    present({ limit, perMs: readDuration(per, "/per", findings, rateWindowBounds), burst, isFixed: fixed }),
  );
}
