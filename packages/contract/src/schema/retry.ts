import { Type, type Static } from "typebox";
import { limits, printablePattern } from "./limits.js";
import { DurationText } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const words = {
  backoff: ["exponential", "linear", "fixed"],
  jitter: ["full", "equal", "none"],
} as const;

const ErrorTypes = Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern }), {
  maxItems: limits.nonRetryable,
  description: "Error types that end the run at once",
});

const requestFields = {
  max_attempts: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: "Tries in all, the first included" }),
  ),
  backoff: Type.Optional(stringEnum(words.backoff, { description: "How the wait grows" })),
  initial: Type.Optional(DurationText("The wait after the first failure.", "10s")),
  factor: Type.Optional(
    Type.Number({ minimum: 1, maximum: 1_000, description: "What an exponential wait is multiplied by" }),
  ),
  max: Type.Optional(DurationText("The longest wait.", "1h")),
  jitter: Type.Optional(
    stringEnum(words.jitter, {
      description: "full: from nothing to the whole wait; equal: from its half; none: exactly the wait",
    }),
  ),
  non_retryable: Type.Optional(ErrorTypes),
};

export const RetryRequest = Type.Object(requestFields, { title: "RetryRequest", additionalProperties: false });

/** The same under the name that other systems use, with their way to count: a retry is an attempt after the first. */
export const RetryPolicySpelling = Type.Object(
  {
    ...requestFields,
    max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999, description: "max_attempts - 1" })),
  },
  { title: "RetryPolicySpelling", additionalProperties: false },
);

export const Retry = Type.Object(
  {
    max_attempts: Type.Integer({ minimum: 1 }),
    backoff: stringEnum(words.backoff),
    initial: Type.String(),
    factor: Type.Number(),
    max: Type.String(),
    jitter: stringEnum(words.jitter),
    non_retryable: Type.Array(Type.String()),
  },
  { title: "Retry", additionalProperties: false, description: "The policy in force, defaults included" },
);

export type RetryRequest = Static<typeof RetryRequest>;
export type RetryPolicySpelling = Static<typeof RetryPolicySpelling>;
export type Retry = Static<typeof Retry>;
