import type { JobDefinition } from "@carillon/contract";
import { formatDuration, type RateLimit, type RunLimits } from "@carillon/core";

type WireLimits = Pick<JobDefinition, "concurrency" | "rate_limit" | "ordering_key" | "ordering_on_failure">;

export function wireLimits({ concurrency, rateLimit, ordering }: RunLimits): WireLimits {
  return {
    concurrency: concurrency === undefined ? null : { ...concurrency },
    rate_limit: rateLimit === undefined ? null : wireRate(rateLimit),
    ordering_key: ordering?.key ?? null,
    ordering_on_failure: ordering === undefined ? null : (ordering.onFailure ?? "block"),
  };
}

export function wireRate({ perMs, ...rest }: RateLimit): NonNullable<WireLimits["rate_limit"]> {
  return { ...rest, per: formatDuration(perMs) };
}
