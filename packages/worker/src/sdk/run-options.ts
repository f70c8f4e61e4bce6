import {
  callbackLimits,
  type DurationBounds,
  labelKeyPattern,
  limits,
  namePattern,
  option,
  type OptionHints,
  policyTimeBounds,
  printablePattern,
  searchPathPattern,
  webAddressPattern,
} from "@carillon/contract/check";
import { callbackMoments, callbackParts, guarantees, maxLimit, maxRatePeriodMs, orderFailures } from "@carillon/core";

const { flag, list, number, object, oneOf, record, required, text, whole } = option;

/** Of a task, a queue or a breaker. */
export const nameOption = text({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern });

export const labelsOption = record(text({ maxLength: limits.labelValueLength, pattern: printablePattern }), {
  propertyNames: { type: "string", pattern: labelKeyPattern, maxLength: limits.labelKeyLength },
  maxProperties: limits.labels,
  examples: [{ team: "billing" }],
});

export const versionOption = text({ minLength: 1, maxLength: limits.labelValueLength, pattern: printablePattern });

export const ownerOption = text({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern });

const policyTime = (example: string, bounds: DurationBounds = policyTimeBounds) => option.duration(example, bounds);

/** A template such as customer:{payload.customer}. */
const template = text({ minLength: 1, maxLength: 200 });
const limitCount = whole(1, maxLimit);

const retryOption = object(
  {
    maxAttempts: whole(1, 10_000),
    backoff: oneOf(["exponential", "linear", "fixed"]),
    initial: option.duration("10s"),
    factor: number(1, 1_000),
    max: option.duration("1h"),
    jitter: oneOf(["full", "equal", "none"]),
    nonRetryable: list(text({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern }), {
      maxItems: limits.nonRetryable,
      examples: [["InvalidAddressError"]],
    }),
  },
  {
    title: "RetryOptions",
    examples: [{ maxAttempts: 5 }],
    hints: {
      attempts: "Write maxAttempts.",
      limit: "Write maxAttempts: it counts the first attempt, too.",
      retries: (value) => `Write maxAttempts: ${attemptsAfter(value)}. It counts the first attempt, too.`,
      maxretries: (value) => `Write maxAttempts: ${attemptsAfter(value)}. It counts the first attempt, too.`,
      delay: 'Write initial: "10s".',
      type: 'Write backoff: "exponential".',
    },
  },
);

const breakerOption = object(
  {
    name: nameOption,
    failureRatio: number(0.01, 1),
    window: policyTime("1m"),
    minCalls: whole(1, 1_000_000),
    openFor: policyTime("30s"),
  },
  { title: "BreakerOptions", examples: [{ failureRatio: 0.5, openFor: "30s" }] },
);

const callbackOption = object(
  {
    on: list(oneOf([...callbackMoments, "dead"]), {
      minItems: 1,
      maxItems: callbackLimits.moments,
      examples: [["failed"]],
    }),
    url: text({ minLength: 1, maxLength: callbackLimits.urlLength, pattern: webAddressPattern }),
    task: nameOption,
    include: list(oneOf(callbackParts), { maxItems: callbackLimits.moments }),
  },
  { title: "CallbackOptions", examples: [{ url: "https://example.com/hook" }] },
);

/** The options that tasks, runs and jobs share. */
export const runDefaultFields = {
  queue: nameOption,
  priority: whole(0, 9),
  retry: retryOption,
  timeout: policyTime("2m"),
  deadline: policyTime("30m"),
  sla: object(
    { startWithin: policyTime("1m"), finishWithin: policyTime("10m") },
    { examples: [{ finishWithin: "10m" }] },
  ),
  guarantee: oneOf(guarantees),
  concurrency: object({ key: template, limit: required(limitCount) }, { examples: [{ limit: 5 }] }),
  rateLimit: object(
    {
      key: template,
      limit: required(limitCount),
      per: required(policyTime("1m", { minMs: 1, maxMs: maxRatePeriodMs })),
      burst: limitCount,
    },
    { examples: [{ limit: 60, per: "1m" }] },
  ),
  orderingKey: template,
  orderingOnFailure: oneOf(orderFailures),
  callbacks: list(callbackOption, {
    maxItems: callbackLimits.callbacks,
    examples: [[{ url: "https://example.com/hook" }]],
  }),
  breaker: breakerOption,
  searchable: list(text({ minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern }), {
    maxItems: limits.searchPaths,
    examples: [["customer.id"]],
  }),
  requires: labelsOption,
  taskVersion: versionOption,
  allowSpot: flag,
} as const;

/** Names that other systems have for them. */
export const runDefaultHints: OptionHints = {
  ...retryHints(["retries", "maxretries", "retrylimit", "retrycount"], attemptsAfter),
  ...retryHints(["attempts", "maxattempts"], (value) => (isCount(value) ? value : 5)),
  ...named(["backoff", "retrybackoff"], 'Write retry: { backoff: "exponential" }.'),
  ...named(["retrydelay", "backoffms"], 'Write retry: { initial: "10s" }.'),
  ...named(["nonretryable"], 'Write retry: { nonRetryable: ["InvalidAddressError"] }.'),
  ...named(
    ["callback", "callbackurl", "webhook", "webhookurl", "oncomplete"],
    'Write callbacks: [{ url: "https://example.com/hook" }].',
  ),
  ...named(["onfailure", "onfailed", "failedcallback"], 'Write callbacks: [{ on: ["failed"], task: "alert" }].'),
  ...named(["limiter", "throttle", "ratelimiter"], 'Write rateLimit: { limit: 60, per: "1m" }.'),
  ...named(["timeoutms", "timelimit", "ttl", "expirein"], 'Write timeout: "2m", a text with a unit.'),
  ...named(["queuename"], "Write queue."),
  ...named(["version"], "Write taskVersion."),
};

export function named(names: readonly string[], hint: OptionHints[string]): OptionHints {
  return Object.fromEntries(names.map((name) => [name, hint]));
}

function retryHints(names: readonly string[], attempts: (value: unknown) => number): OptionHints {
  return named(names, (value) => `Write retry: { maxAttempts: ${attempts(value)} }: it counts the first attempt, too.`);
}

function attemptsAfter(retries: unknown): number {
  return isCount(retries) ? retries + 1 : 5;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
