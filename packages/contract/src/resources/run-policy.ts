import {
  askedOf,
  checkRunPolicy,
  guarantees,
  maxRetryWaitMs,
  present,
  requirementsOf,
  type RetryPolicy,
  retryPolicy,
  type RunPolicy,
  type Sla as CoreSla,
} from "@carillon/core";
import { type Static, type TObject, Type } from "typebox";
import { limits, policyTimeBounds, printablePattern, searchPathPattern } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import {
  durationText,
  DurationText,
  Labels,
  NameText,
  object,
  OwnerName,
  readDuration,
  stringEnum,
  WholeNumber,
} from "../fields.js";
import { type Condition, ifOneOf, type Rule } from "../rules.js";
import { BreakerRequest, readBreaker } from "./breaker.js";
import { Callbacks, callbacksOf, type RefuseTarget } from "./end-callback.js";
import { limitFields } from "./run-limits.js";

const words = {
  backoff: ["exponential", "linear", "fixed"],
  jitter: ["full", "equal", "none"],
} as const;

const ErrorTypes = Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: printablePattern }), {
  maxItems: limits.nonRetryable,
  description: "Error types that are not retried",
});

const retryWaitBounds = { minMs: 0, maxMs: maxRetryWaitMs };

const waitRules = [
  { code: "retry_invalid", rule: "max is not shorter than initial" },
] as const satisfies readonly Rule[];

const requestFields = {
  max_attempts: Type.Optional(WholeNumber(1, 10_000, "The largest number of attempts, the first one included")),
  backoff: Type.Optional(stringEnum(words.backoff, { description: "How the wait between attempts grows" })),
  initial: Type.Optional(DurationText("The wait after the first failure.", "10s", retryWaitBounds)),
  factor: Type.Optional(
    Type.Number({ minimum: 1, maximum: 1_000, description: "The factor of an exponential backoff" }),
  ),
  max: Type.Optional(DurationText("The longest wait between attempts.", "1h", retryWaitBounds)),
  jitter: Type.Optional(
    stringEnum(words.jitter, {
      description:
        "How the wait is randomised. full: between zero and the whole wait; equal: between its half and the whole; none: not at " +
        "all",
    }),
  ),
  non_retryable: Type.Optional(ErrorTypes),
};

export const RetryRequest = object("RetryRequest", requestFields, { "x-carillon-rules": waitRules });
export type RetryRequest = Static<typeof RetryRequest>;

export const Retry = object(
  "Retry",
  {
    max_attempts: Type.Integer({ minimum: 1 }),
    backoff: stringEnum(words.backoff),
    initial: Type.String(),
    factor: Type.Number(),
    max: Type.String(),
    jitter: stringEnum(words.jitter),
    non_retryable: Type.Array(Type.String()),
  },
  { description: "The retry policy in force, defaults included" },
);
export type Retry = Static<typeof Retry>;

export const Guarantee = stringEnum(guarantees, {
  description:
    "at_least_once, the default: a run whose worker is lost starts again. at_most_once: a run starts only once; a run whose " +
    "worker is lost fails",
});

const Requires = Type.Unsafe<Record<string, string>>({
  ...Labels,
  description: "Only workers with all of these labels get the run",
  examples: [{ gpu: "a100" }],
});

const TaskVersion = Type.String({
  minLength: 1,
  maxLength: limits.labelValueLength,
  pattern: printablePattern,
  description: "Only workers with this version of the task get the run",
  examples: ["3"],
});

const Searchable = Type.Array(
  Type.String({ minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern }),
  {
    maxItems: limits.searchPaths,
    description:
      "Paths of the payload by which lists find it and its runs, with payload.<path>=<value>. Only runs and jobs that were " +
      "stored since are found",
    examples: [["customer.id"]],
  },
);

const AllowSpot = Type.Boolean({
  description: "Whether spot workers, which may disappear at any time, get the run, too; false by default",
});

const Deadline = DurationText(
  "The time from the scheduled time to the end, all attempts together; a run that has not ended by then fails.",
  "30m",
  policyTimeBounds,
);

export const Sla = object(
  "Sla",
  {
    start_within: Type.Optional(
      DurationText("The time from the scheduled time until a worker starts it.", "1m", policyTimeBounds),
    ),
    finish_within: Type.Optional(
      DurationText("The time from the scheduled time to the end, all attempts together.", "10m", policyTimeBounds),
    ),
  },
  {
    description: "The service level of each run. A breach is reported as an event and counted; the run continues",
    "x-carillon-rules": [{ code: "field_invalid", rule: "start_within is not longer than finish_within" }],
  },
);
export type Sla = Static<typeof Sla>;

/** The policies of runs, in requests for runs and jobs and in the defaults of a task. */
export const policyFields = {
  retry: Type.Optional(RetryRequest),
  timeout: Type.Optional(DurationText("The time limit of each attempt.", "2m", policyTimeBounds)),
  deadline: Type.Optional(Deadline),
  sla: Type.Optional(Sla),
  guarantee: Type.Optional(Guarantee),
  requires: Type.Optional(Requires),
  ...limitFields,
  callbacks: Type.Optional(Callbacks),
  task_version: Type.Optional(TaskVersion),
  allow_spot: Type.Optional(AllowSpot),
  breaker: Type.Optional(BreakerRequest),
};

/** Other fields that requests for runs and jobs share. */
export const runFields = {
  task: NameText("The name of the task to run", "echo"),
  payload: Type.Optional(Type.Unknown({ description: "Any JSON value; null when left out" })),
  queue: Type.Optional(NameText("The queue of its runs; default by default", "default")),
  priority: Type.Optional(WholeNumber(0, 9, "9 is most urgent; 4 by default")),
  labels: Type.Optional(Labels),
  searchable: Type.Optional(Searchable),
  owner: Type.Optional(OwnerName("The owner: a user or a team, in your own naming")),
};

/** Rules between the policies of a run, in requests for runs and jobs. */
export const policyRules = {
  allOf: [
    ifOneOf("guarantee", ["at_most_once"], {
      properties: { retry: { properties: { max_attempts: { enum: [1] } } } },
    }),
  ],
  rules: [
    { code: "field_invalid", rule: "ordering_on_failure needs an ordering_key, which may be a default of the task" },
    { code: "retry_invalid", rule: "The default of a task counts like a field: at_most_once allows one attempt" },
    { code: "template_value_missing", rule: "The payload has a value for each placeholder of a key" },
    {
      code: "template_value_invalid",
      rule: "The values for placeholders are texts, numbers or booleans, and no key is empty",
    },
    { code: "payload_invalid", rule: "The payload fits the schema of its task" },
    { code: "address_refused", rule: "The server may send requests to the addresses of callbacks" },
  ],
} as const satisfies { readonly allOf: readonly Condition[]; readonly rules: readonly Rule[] };

type PolicyFields = Static<TObject<typeof policyFields>> & { readonly searchable?: readonly string[] };

/** Reads the policies of a request. A policy that is left out stays absent, so that it follows the defaults of Carillon. */
export function runPolicy(given: PolicyFields, findings: Findings, refuse?: RefuseTarget): RunPolicy {
  const { timeout, deadline, guarantee, callbacks = [] } = given;
  const requires = readRequires(given);
  const retry = readRetry(given.retry ?? {}, findings);
  const timeoutMs = readDuration(timeout, "/timeout", findings, policyTimeBounds);
  const deadlineMs = readDuration(deadline, "/deadline", findings, policyTimeBounds);
  const sla = readSla(given.sla ?? {}, findings);
  const policy: RunPolicy = {
    ...(Object.keys(retry).length > 0 && { retry }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(Object.keys(sla).length > 0 && { sla }),
    ...(guarantee === "at_most_once" && { guarantee }),
    ...(Object.keys(requires).length > 0 && { requires }),
    ...(callbacks.length > 0 && { callbacks: callbacksOf(callbacks, refuse, findings) }),
    ...(given.searchable !== undefined &&
      given.searchable.length > 0 && { searchable: [...new Set(given.searchable)] }),
    ...(given.breaker !== undefined && { breaker: readBreaker(given.breaker, findings) }),
  };
  const maxAttemptsAt = given.retry?.max_attempts === undefined ? undefined : "/retry/max_attempts";
  findings.attempt("", () => checkRunPolicy(policy, maxAttemptsAt), "guarantee");
  return policy;
}

function readSla(given: NonNullable<PolicyFields["sla"]>, findings: Findings): CoreSla {
  const { start_within: start, finish_within: finish } = given;
  const startWithinMs = readDuration(start, "/sla/start_within", findings, policyTimeBounds);
  const finishWithinMs = readDuration(finish, "/sla/finish_within", findings, policyTimeBounds);
  if (startWithinMs !== undefined && finishWithinMs !== undefined && startWithinMs > finishWithinMs) {
    findings.add(
      "/sla/start_within",
      "field_invalid",
      "Must not be longer than finish_within, because a run starts before it ends.",
    );
  }
  return {
    ...(startWithinMs !== undefined && { startWithinMs }),
    ...(finishWithinMs !== undefined && { finishWithinMs }),
  };
}

function readRequires(given: PolicyFields): Readonly<Record<string, string>> {
  const { requires: labels = {}, task_version: version, allow_spot: allowsSpot = false, breaker } = given;
  return requirementsOf({
    labels,
    allowsSpot,
    ...(version !== undefined && { version }),
    ...(breaker !== undefined && { breaker: breaker.name ?? null }),
  });
}

function readRetry(given: RetryRequest, findings: Findings): Partial<RetryPolicy> {
  const { max_attempts: maxAttempts, backoff, initial, factor, max, jitter, non_retryable: nonRetryable } = given;
  const initialMs = readDuration(initial, "/retry/initial", findings);
  const maxMs = readDuration(max, "/retry/max", findings);
  const policy: Partial<RetryPolicy> = {
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(backoff !== undefined && { backoff }),
    ...(initialMs !== undefined && { initialMs }),
    ...(factor !== undefined && { factor }),
    ...(maxMs !== undefined && { maxMs }),
    ...(jitter !== undefined && { jitter }),
    ...(nonRetryable !== undefined && { nonRetryable }),
  };
  findings.attempt("/retry", () => retryPolicy(policy));
  return policy;
}

export function retryRequest({
  maxAttempts,
  initialMs,
  maxMs,
  nonRetryable,
  ...same
}: Partial<RetryPolicy>): RetryRequest {
  return present({
    max_attempts: maxAttempts,
    backoff: same.backoff,
    initial: durationText(initialMs),
    factor: same.factor,
    max: durationText(maxMs),
    jitter: same.jitter,
    non_retryable: nonRetryable && [...nonRetryable],
  });
}

/** The promise as requests and answers have it. */
export function slaRequest({ startWithinMs, finishWithinMs }: CoreSla): Sla {
  return present({ start_within: durationText(startWithinMs), finish_within: durationText(finishWithinMs) });
}

export function requiresRequest(
  requires: Readonly<Record<string, string>> = {},
): Pick<PolicyFields, "requires" | "task_version" | "allow_spot"> {
  const { labels, version, allowsSpot } = askedOf(requires);
  return {
    ...(Object.keys(labels).length > 0 && { requires: { ...labels } }),
    ...(version !== undefined && { task_version: version }),
    ...(allowsSpot && { allow_spot: true }),
  };
}
