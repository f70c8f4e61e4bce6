import { limitKinds, limitScopes, maxLimit, orderFailures } from "@carillon/core";
import { Type, type Static } from "typebox";
import { NextPageToken, paging } from "./paging.js";
import { Count, DurationText, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const Scope = stringEnum(limitScopes, { description: "What it is of: a key, a task, a job, a queue or the namespace" });
const Kind = stringEnum(limitKinds, { description: "concurrency, rate, or order for an ordering key" });

export const Limit = Type.Object(
  {
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
  },
  { title: "Limit", additionalProperties: false },
);

export const LimitQuery = Type.Object(
  {
    ...paging,
    scope: Type.Optional(Scope),
    kind: Type.Optional(Kind),
    key: Type.Optional(Type.String({ maxLength: 200, description: "The whole key, filled in" })),
  },
  { additionalProperties: false },
);

export const LimitPatch = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: maxLimit, description: "0 lets nothing start" })),
    per: Type.Optional(DurationText("Of a rate: the length of the window, 31 days at most.", "1m")),
    burst: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit })),
    fixed: Type.Optional(Type.Boolean({ description: "false gives it back: what runs say of it counts again" })),
  },
  {
    title: "LimitPatch",
    additionalProperties: false,
    description: "What is left out stays. From then on the limit is fixed, unless fixed is false",
    examples: [{ limit: 5 }],
  },
);

export const LimitList = Type.Object(
  { limits: Type.Array(Limit), next_page_token: NextPageToken },
  { title: "LimitList", additionalProperties: false },
);

export type Limit = Static<typeof Limit>;
export type LimitQuery = Static<typeof LimitQuery>;
export type LimitPatch = Static<typeof LimitPatch>;
export type LimitList = Static<typeof LimitList>;
