import type { CompiledSchedule, DurationMs, Instant } from "@carillon/core";

export interface MisfireLimits {
  /** Up to this lateness every occurrence is fired, in order. */
  readonly thresholdMs: DurationMs;
  /** What is older is never fired. */
  readonly catchupWindowMs: DurationMs;
}

export const defaultMisfire: MisfireLimits = { thresholdMs: 60_000, catchupWindowMs: 86_400_000 };

/** What to do with a job whose next occurrence is due: fire it, or first pass over what is too late for that. */
export type Settlement =
  | { readonly kind: "fire" }
  | { readonly kind: "skip"; readonly through: Instant; readonly count: number; readonly next: Instant };

/**
 * run_once, the default policy: when the oldest due occurrence is later than the threshold, only the latest one fires
 * and the others go to the ledger; one that is older than the catch-up window does not fire either. `next` is -1 for never.
 */
export function settleMisfire(schedule: CompiledSchedule, nominal: Instant, now: Instant, limits = defaultMisfire): Settlement {
  if (now - nominal <= limits.thresholdMs) return { kind: "fire" };
  const latest = schedule.previousNominal(now + 1);
  const isFireable = latest >= now - limits.catchupWindowMs;
  if (latest <= nominal && now - nominal <= limits.catchupWindowMs) return { kind: "fire" };
  const next = isFireable && latest > nominal ? latest : schedule.nextNominal(now);
  let through = nominal;
  let count = 1;
  for (let at = schedule.nextNominal(nominal); at !== -1 && (next === -1 || at < next); at = schedule.nextNominal(at)) {
    through = at;
    count += 1;
  }
  return { kind: "skip", through, count, next };
}
