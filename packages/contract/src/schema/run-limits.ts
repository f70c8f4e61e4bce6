import { maxLimit, orderFailures } from "@carillon/core";
import { Type, type Static } from "typebox";
import { DurationText } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const LimitCount = (description: string) => Type.Integer({ minimum: 1, maximum: maxLimit, description });

const KeyTemplate = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: `${description} A text with places for values of the payload, such as {payload.customer.id}.`,
    examples: [example],
  });

const keyOfLimit = KeyTemplate(
  "What the limit is of, in your own words; jobs that name the same key share it. Without it, the job (of a run that stands alone, its task).",
  "customer:{payload.customer}",
);

export const Concurrency = Type.Object(
  { key: Type.Optional(keyOfLimit), limit: LimitCount("Runs at a time") },
  {
    title: "ConcurrencyLimit",
    additionalProperties: false,
    description: "At most so many of its runs at a time, over all workers",
    examples: [{ key: "customer:{payload.customer}", limit: 2 }],
  },
);

export const RateLimit = Type.Object(
  {
    key: Type.Optional(keyOfLimit),
    limit: LimitCount("Starts in any window"),
    per: DurationText("The length of the window, 31 days at most.", "1m"),
    burst: Type.Optional(
      LimitCount("So many may be admitted and wait for a worker; as many as the limit by default, a hundred at most"),
    ),
  },
  {
    title: "RateLimit",
    additionalProperties: false,
    description: "At most so many starts in any window of this length, tries after a failure included",
    examples: [{ limit: 60, per: "1m" }],
  },
);

const OrderingKey = KeyTemplate(
  "Runs of one key go one after the other, in the order of their times.",
  "account:{payload.account}",
);

const OrderingFailure = stringEnum(orderFailures, {
  description:
    "What the failure of a run does to those behind it. block, the default: they wait until it is retried or discarded; skip: " +
    "the next one starts; stop: those that wait are cancelled",
});

/** The limits of a queue itself: as those of a job, without a key. */
export const QueueConcurrency = Type.Object(
  { limit: LimitCount("Runs at a time") },
  {
    title: "QueueConcurrency",
    additionalProperties: false,
    description: "At most so many runs of the queue at a time",
  },
);

export const QueueRateLimit = Type.Object(
  { limit: RateLimit.properties.limit, per: RateLimit.properties.per, burst: RateLimit.properties.burst },
  {
    title: "QueueRateLimit",
    additionalProperties: false,
    description: "At most so many starts of its runs in any window",
  },
);

/** In requests. */
export const limitFields = {
  concurrency: Type.Optional(Concurrency),
  rate_limit: Type.Optional(RateLimit),
  ordering_key: Type.Optional(OrderingKey),
  ordering_on_failure: Type.Optional(OrderingFailure),
};

/** In answers. */
export const limitAnswer = {
  concurrency: nullable(Concurrency),
  rate_limit: nullable(RateLimit),
  ordering_key: nullable(OrderingKey),
  ordering_on_failure: nullable(OrderingFailure),
};

export type Concurrency = Static<typeof Concurrency>;
export type RateLimit = Static<typeof RateLimit>;
