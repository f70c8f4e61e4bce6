import { Type, type Static } from "typebox";
import { limits, namePattern } from "./limits.js";
import { NextPageToken } from "./paging.js";
import { Count, DurationText, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

export const BreakerRequest = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: namePattern,
        description: "What it stands for, shared by all that name it; the task when left out",
        examples: ["payments-api"],
      }),
    ),
    failure_ratio: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 1,
        description: "It opens when so many of the attempts failed; 0.5 by default",
      }),
    ),
    window: Type.Optional(DurationText("Within this time; 1m by default.", "1m")),
    min_calls: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: "If there were so many; 10 by default" }),
    ),
    open_for: Type.Optional(DurationText("For so long it stays open before one run is tried; 30s by default.", "30s")),
  },
  {
    title: "BreakerRequest",
    additionalProperties: false,
    description:
      "A circuit breaker: while it is open its runs wait, and spend nothing. Opens by the ratio of failures, counted by each " +
      "node for itself, or at once for as long as a Retry-After says",
    examples: [{ name: "payments-api", failure_ratio: 0.5, window: "1m", min_calls: 20, open_for: "30s" }],
  },
);

export const BreakerAnswer = Type.Object(
  {
    name: Type.String(),
    failure_ratio: Type.Number(),
    window: Type.String(),
    min_calls: Type.Integer(),
    open_for: Type.String(),
  },
  { title: "BreakerAnswer", additionalProperties: false },
);

export const Breaker = Type.Object(
  {
    name: Type.String(),
    state: stringEnum(["closed", "open", "half_open"], {
      description: "open: its runs wait; half_open: one of them is tried",
    }),
    reason: Type.String({ description: "Why it opened last" }),
    opened_at: Timestamp,
    probe_at: nullable(Timestamp),
    openings: Count("How often it has opened"),
    updated_at: Timestamp,
  },
  { title: "Breaker", additionalProperties: false },
);

export const BreakerList = Type.Object(
  { breakers: Type.Array(Breaker), next_page_token: NextPageToken },
  { title: "BreakerList", additionalProperties: false },
);

export type BreakerRequest = Static<typeof BreakerRequest>;
export type Breaker = Static<typeof Breaker>;
export type BreakerList = Static<typeof BreakerList>;
