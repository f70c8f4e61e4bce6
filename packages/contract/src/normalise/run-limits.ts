import { checkLimits, keyedLimits, type RateLimit, type RunLimits } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { JobCreate } from "../schema/job-create.js";
import { windowOf } from "./limit.js";

export type LimitFields = Pick<JobCreate, "concurrency" | "rate_limit" | "ordering_key" | "ordering_on_failure">;

/** The limits that were given, with every key checked against the payload that it will be filled in from. */
export function runLimits(
  given: LimitFields,
  payload: { readonly value: unknown } | null,
  findings: Findings,
): RunLimits {
  const { concurrency, rate_limit: rate, ordering_key: key, ordering_on_failure: onFailure } = given;
  if (key === undefined && onFailure !== undefined)
    findings.add(
      "/ordering_on_failure",
      "field_invalid",
      "says what a failure does to an ordering_key, and there is none",
    );
  const rateLimit = rate === undefined ? undefined : rateOf(rate, "/rate_limit", findings);
  const limits: RunLimits = {
    ...(concurrency !== undefined && { concurrency: { ...concurrency } }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(key !== undefined && { ordering: { key, ...(onFailure !== undefined && { onFailure }) } }),
  };
  for (const [pointer, one] of parts(limits)) {
    // What was wrong inside was left out, and is missing only for that.
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

interface RateFields {
  readonly key?: string;
  readonly limit: number;
  readonly per: string;
  readonly burst?: number;
}

export function rateOf({ per, ...rest }: RateFields, pointer: string, findings: Findings): RateLimit | undefined {
  const perMs = findings.attempt(`${pointer}/per`, () => windowOf(per));
  return perMs === undefined ? undefined : { ...rest, perMs };
}
