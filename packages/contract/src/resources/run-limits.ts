import {
  checkLimits,
  formatDuration,
  keyedLimits,
  maxRatePeriodMs,
  maxLimit,
  orderFailures,
  type RateLimit as CoreRateLimit,
  type RunLimits,
} from "@carillon/core";
import { type Static, type TObject, Type } from "typebox";
import type { Findings } from "../check/findings.js";
import { DurationText, nullable, object, readDuration, stringEnum } from "../fields.js";
import { wholeOrNull } from "../merge-patch.js";

/** Bounds of the window of a rate. */
export const rateWindowBounds = { minMs: 1, maxMs: maxRatePeriodMs };

const LimitCount = (description: string) => Type.Integer({ minimum: 1, maximum: maxLimit, description });

const KeyTemplate = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    format: "template",
    description: `${description} A text that may contain values of the payload, such as {payload.customer.id}.`,
    examples: [example],
  });

const keyOfLimit = KeyTemplate(
  "The key of the limit, in your own naming: jobs with the same key share it. Without a key the limit is that of the job, " +
    "or of the task for a run without a job.",
  "customer:{payload.customer}",
);

const Concurrency = object(
  "ConcurrencyLimit",
  { key: Type.Optional(keyOfLimit), limit: LimitCount("The number of runs at a time") },
  {
    description: "Limits the number of runs at a time, over all workers",
    examples: [{ key: "customer:{payload.customer}", limit: 2 }],
  },
);

const RateLimit = object(
  "RateLimit",
  {
    key: Type.Optional(keyOfLimit),
    limit: LimitCount("The number of starts in any window"),
    per: DurationText("The length of the window, at most 31 days.", "1m", rateWindowBounds),
    burst: Type.Optional(
      LimitCount(
        "The number of runs that may be admitted and wait for a worker; by default the limit, but at most a hundred",
      ),
    ),
  },
  {
    description: "Limits the number of starts in any window of this length, including attempts after a failure",
    examples: [{ limit: 60, per: "1m" }],
  },
);
type RateLimit = Static<typeof RateLimit>;

const OrderingKey = KeyTemplate(
  "Runs with the same key run one after the other, in the order of their times.",
  "account:{payload.account}",
);

const OrderingFailure = stringEnum(orderFailures, {
  description:
    "What the failure of a run means for the runs behind it. block, the default: they wait until it is retried or " +
    "discarded; skip: the next one starts; stop: the waiting ones are cancelled",
});

/** The limits of a queue itself have no key. */
const QueueConcurrency = object(
  "QueueConcurrency",
  { limit: LimitCount("The number of runs at a time") },
  { description: "Limits the number of runs of the queue at a time" },
);

const QueueRateLimit = object(
  "QueueRateLimit",
  { limit: RateLimit.properties.limit, per: RateLimit.properties.per, burst: RateLimit.properties.burst },
  { description: "Limits the number of starts of its runs in any window" },
);

/** The limits of a run or job in requests. */
export const limitFields = {
  concurrency: Type.Optional(Concurrency),
  rate_limit: Type.Optional(RateLimit),
  ordering_key: Type.Optional(OrderingKey),
  ordering_on_failure: Type.Optional(OrderingFailure),
};

/** The same in answers. */
export const limitAnswer = {
  concurrency: nullable(Concurrency),
  rate_limit: nullable(RateLimit),
  ordering_key: nullable(OrderingKey),
  ordering_on_failure: nullable(OrderingFailure),
};

type LimitFields = Static<TObject<typeof limitFields>>;

/** Reads the limits of a run, and checks each key against the payload that fills it in. */
export function runLimits(
  given: LimitFields,
  payload: { readonly value: unknown } | null,
  findings: Findings,
): RunLimits {
  const { concurrency, rate_limit: rate, ordering_key: key, ordering_on_failure: onFailure } = given;
  if (key === undefined && onFailure !== undefined)
    findings.add("/ordering_on_failure", "field_invalid", "Needs an ordering_key, and there is none.");
  const rateLimit = rate === undefined ? undefined : rateOf(rate, "/rate_limit", findings);
  const limits: RunLimits = {
    ...(concurrency !== undefined && { concurrency: { ...concurrency } }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(key !== undefined && { ordering: { key, ...(onFailure !== undefined && { onFailure }) } }),
  };
  for (const [pointer, one] of parts(limits)) {
    // A part with a fault was left out, and the rest may be faulty only because of the gap.
    if (findings.hasInside(pointer.slice(0, pointer.lastIndexOf("/")))) continue;
    findings.attempt(pointer, () => {
      checkLimits(one);
      if (payload !== null) keyedLimits(one, { task: "", jobId: null, payload: payload.value });
    });
  }
  return limits;
}

function parts({ concurrency, rateLimit, ordering }: RunLimits): [string, RunLimits][] {
  return [
    ...(concurrency === undefined ? [] : [["/concurrency/key", { concurrency }] as [string, RunLimits]]),
    ...(rateLimit === undefined ? [] : [["/rate_limit/key", { rateLimit }] as [string, RunLimits]]),
    ...(ordering === undefined ? [] : [["/ordering_key", { ordering }] as [string, RunLimits]]),
  ];
}

function rateOf({ per, ...rest }: RateLimit, pointer: string, findings: Findings): CoreRateLimit | undefined {
  const perMs = readDuration(per, `${pointer}/per`, findings, rateWindowBounds);
  return perMs === undefined ? undefined : { ...rest, perMs };
}

/** The limits of a queue or a namespace itself, in requests; null takes one away. */
export const ownLimitPatch = {
  concurrency: Type.Optional(wholeOrNull(QueueConcurrency)),
  rate_limit: Type.Optional(wholeOrNull(QueueRateLimit)),
};

/** The same in answers. */
export const ownLimitAnswer = { concurrency: nullable(QueueConcurrency), rate_limit: nullable(QueueRateLimit) };

type OwnLimits = Static<TObject<typeof ownLimitPatch>>;

/** Reads the limits of a queue or a namespace itself: each is given whole, or null takes it away. */
export function readOwnLimits({ concurrency, rate_limit: rate }: OwnLimits, findings: Findings): OwnLimitChange {
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rate !== undefined && { rateLimit: readRate(rate, findings) }),
  };
}

export interface OwnLimitChange {
  readonly concurrency?: { readonly limit: number } | null;
  readonly rateLimit?: Omit<CoreRateLimit, "key"> | null;
}

function readRate(given: RateLimit | null, findings: Findings): CoreRateLimit | null {
  return given === null ? null : (rateOf(given, "/rate_limit", findings) ?? null);
}

export function limitsRequest({ concurrency, rateLimit, ordering }: RunLimits): LimitFields {
  return {
    ...(concurrency !== undefined && { concurrency: { ...concurrency } }),
    ...(rateLimit !== undefined && { rate_limit: rateRequest(rateLimit) }),
    ...(ordering !== undefined && { ordering_key: ordering.key }),
    ...(ordering?.onFailure !== undefined && { ordering_on_failure: ordering.onFailure }),
  };
}

function rateRequest({ perMs, ...rest }: CoreRateLimit): RateLimit {
  return { ...rest, per: formatDuration(perMs) };
}
