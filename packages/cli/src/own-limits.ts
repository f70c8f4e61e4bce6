import type { Namespace } from "@carillon/contract";

/** The limits that a queue or a namespace has itself. */
export type OwnLimits = Pick<Namespace, "concurrency" | "rate_limit">;

export function ownLimitFields({ concurrency, rate_limit: rate }: OwnLimits): (readonly [string, string | null])[] {
  const burst = rate?.burst === undefined ? "" : `, a burst of ${rate.burst}`;
  return [
    ["concurrency", concurrency ? `${concurrency.limit} at a time` : null],
    ["rate", rate ? `${rate.limit} per ${rate.per}${burst}` : null],
  ];
}
