import type { RateLimit } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import { rateOf } from "./run-limits.js";

/** The limits of a queue or a namespace itself; null takes one away. */
export interface OwnLimitChange {
  readonly concurrency?: { readonly limit: number } | null;
  readonly rateLimit?: Omit<RateLimit, "key"> | null;
}

export function ownLimitChange(
  given: {
    readonly concurrency?: Patched<{ limit: number }> | null | undefined;
    readonly rate_limit?: Patched<QueueRate> | null | undefined;
  },
  findings: Findings,
): OwnLimitChange {
  const { concurrency, rate_limit: rate } = given;
  return {
    ...(concurrency !== undefined && { concurrency: concurrencyOf(concurrency, findings) }),
    ...(rate !== undefined && { rateLimit: rate === null ? null : queueRate(rate, findings) }),
  };
}

/** A limit is given whole, or taken away. */
function concurrencyOf(given: Patched<{ limit: number }> | null, findings: Findings): { limit: number } | null {
  if (given === null || typeof given.limit === "number") return given === null ? null : { limit: given.limit ?? 0 };
  addMissing(findings, "/concurrency/limit", "limit is required: runs at a time");
  return null;
}

function queueRate(given: Patched<QueueRate>, findings: Findings): RateLimit | null {
  const { limit, per, burst } = given;
  if (typeof limit !== "number") addMissing(findings, "/rate_limit/limit", "limit is required: starts in any window");
  if (typeof per !== "string") addMissing(findings, "/rate_limit/per", 'per is required: a duration such as "1m"');
  if (typeof limit !== "number" || typeof per !== "string") return null;
  const rate = { limit, per, ...(typeof burst === "number" && { burst }) };
  return rateOf(rate, "/rate_limit", findings) ?? null;
}

/** What was wrong was left out, and is missing only for that. */
function addMissing(findings: Findings, pointer: string, detail: string): void {
  if (!findings.hasAt(pointer)) findings.add(pointer, "field_missing", detail);
}

interface QueueRate {
  readonly limit: number;
  readonly per: string;
  readonly burst?: number;
}

type Patched<Value> = { readonly [Key in keyof Value]?: Value[Key] | null };
