import {
  type BreakerPolicy,
  checkRunPolicy,
  parseDuration,
  requirementsOf,
  retryPolicy,
  type RetryPolicy,
  type RunPolicy,
  type Sla,
} from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { JobCreate } from "../schema/job-create.js";
import { callbacksOf, type RefuseTarget } from "./end-callback.js";
import type { OwnSpelling } from "./own-spelling.js";

/** The policies that were given; what was not stays out, so that it follows the product's defaults. */
export function runPolicy(own: OwnSpelling, given: PolicyFields, findings: Findings, refuse?: RefuseTarget): RunPolicy {
  const { timeout, deadline, guarantee } = given;
  const { value: callbacks = [], pointer: at = "/callbacks" } = own.callbacks ?? {};
  const requires = requiresOf(given);
  const retry = retryOf(own, findings);
  const timeoutMs = timeout === undefined ? undefined : timeOf("/timeout", timeout, findings);
  const deadlineMs = deadline === undefined ? undefined : timeOf("/deadline", deadline, findings);
  const sla = slaOf(given.sla ?? {}, findings);
  const policy: RunPolicy = {
    ...(Object.keys(retry).length > 0 && { retry }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(Object.keys(sla).length > 0 && { sla }),
    ...(guarantee === "at_most_once" && { guarantee }),
    ...(Object.keys(requires).length > 0 && { requires }),
    ...(callbacks.length > 0 && { callbacks: callbacksOf(callbacks, { at, refuse }, findings) }),
    ...(given.searchable !== undefined &&
      given.searchable.length > 0 && { searchable: [...new Set(given.searchable)] }),
    ...(given.breaker !== undefined && { breaker: breakerOf(given.breaker, findings) }),
  };
  findings.attempt("", () => checkRunPolicy(policy, own.maxAttempts?.pointer), "guarantee");
  return policy;
}

/** The policies that have one spelling only. */
export type PolicyFields = Pick<
  JobCreate,
  "timeout" | "deadline" | "sla" | "guarantee" | "requires" | "task_version" | "allow_spot" | "breaker" | "searchable"
>;

function slaOf(given: NonNullable<PolicyFields["sla"]>, findings: Findings): Sla {
  const { start_within: start, finish_within: finish } = given;
  const startWithinMs = start === undefined ? undefined : timeOf("/sla/start_within", start, findings);
  const finishWithinMs = finish === undefined ? undefined : timeOf("/sla/finish_within", finish, findings);
  if (startWithinMs !== undefined && finishWithinMs !== undefined && startWithinMs > finishWithinMs) {
    findings.add("/sla/start_within", "field_invalid", "is longer than finish_within: a run starts before it ends");
  }
  return {
    ...(startWithinMs !== undefined && { startWithinMs }),
    ...(finishWithinMs !== undefined && { finishWithinMs }),
  };
}

function requiresOf(given: PolicyFields): Readonly<Record<string, string>> {
  const { requires: labels = {}, task_version: version, allow_spot: allowsSpot = false, breaker } = given;
  return requirementsOf({
    labels,
    allowsSpot,
    ...(version !== undefined && { version }),
    ...(breaker !== undefined && { breaker: breaker.name ?? null }),
  });
}

/** What is not said of a breaker. */
const usualBreaker = { failureRatio: 0.5, windowMs: 60_000, minCalls: 10, openForMs: 30_000 } as const;

function breakerOf(given: NonNullable<PolicyFields["breaker"]>, findings: Findings): BreakerPolicy {
  const { failure_ratio: failureRatio = usualBreaker.failureRatio, min_calls: minCalls = usualBreaker.minCalls } =
    given;
  const time = (name: "window" | "open_for"): number | undefined => {
    const text = given[name];
    return text === undefined ? undefined : timeOf(`/breaker/${name}`, text, findings);
  };
  const windowMs = time("window") ?? usualBreaker.windowMs;
  return { failureRatio, windowMs, minCalls, openForMs: time("open_for") ?? usualBreaker.openForMs };
}

/** A year: what takes longer is a service, not a run. */
const longestTimeMs = 366 * 86_400_000;

function timeOf(pointer: string, text: string, findings: Findings): number | undefined {
  const timeMs = findings.attempt(pointer, () => parseDuration(text));
  if (timeMs !== undefined && (timeMs < 1 || timeMs > longestTimeMs)) {
    findings.add(pointer, "duration_invalid", "must be from 1ms to 366d");
  }
  return timeMs;
}

function retryOf(own: OwnSpelling, findings: Findings): Partial<RetryPolicy> {
  const { maxAttempts, retry } = own;
  const pointer = retry?.pointer ?? "/retry";
  const { backoff, initial, factor, max, jitter, non_retryable: nonRetryable } = retry?.value ?? {};
  const wait = (name: string, text: string | undefined) =>
    text === undefined ? undefined : findings.attempt(`${pointer}/${name}`, () => parseDuration(text));
  const initialMs = wait("initial", initial);
  const maxMs = wait("max", max);
  const given: Partial<RetryPolicy> = {
    ...(maxAttempts && { maxAttempts: maxAttempts.value }),
    ...(backoff !== undefined && { backoff }),
    ...(initialMs !== undefined && { initialMs }),
    ...(factor !== undefined && { factor }),
    ...(maxMs !== undefined && { maxMs }),
    ...(jitter !== undefined && { jitter }),
    ...(nonRetryable !== undefined && { nonRetryable }),
  };
  findings.attempt(pointer, () => retryPolicy(given));
  return given;
}
