import { type KeyedLimit, type LimitScope, defaultBurstOf } from "@carillon/core";
import type { OwnLimits } from "../store/entities/limit-rows.js";

/** The limits that a queue or a namespace has itself. */
export function ownLimitsOf({ concurrency, rateLimit }: OwnLimits, scope: LimitScope, name: string): KeyedLimit[] {
  const found: KeyedLimit[] = [];
  if (concurrency !== undefined) {
    const none = { perMs: null, burst: null, onFailure: null };
    found.push({ scope, kind: "concurrency", name, limit: concurrency.limit, ...none });
  }
  if (rateLimit !== undefined) {
    const { limit, perMs, burst = defaultBurstOf(limit) } = rateLimit;
    found.push({ scope, kind: "rate", name, limit, perMs, burst, onFailure: null });
  }
  return found;
}
