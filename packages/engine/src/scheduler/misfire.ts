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
export function settleMisfire(
  schedule: CompiledSchedule,
  nominal: Instant,
  now: Instant,
  limits = defaultMisfire,
): Settlement {
  if (now - nominal <= limits.thresholdMs) return { kind: "fire" };
  const latest = schedule.previousNominal(now + 1);
  const isFireable = latest >= now - limits.catchupWindowMs;
  if (latest <= nominal && now - nominal <= limits.catchupWindowMs) return { kind: "fire" };
  const next = isFireable && latest > nominal ? latest : schedule.nextNominal(now);
  const { through, count } = passOver(schedule, nominal, next === -1 ? now + 1 : next);
  return { kind: "skip", through, count, next };
}

/** The occurrences from `first` on that lie before `end`: the last of them, and how many they are. */
function passOver(schedule: CompiledSchedule, first: Instant, end: Instant): { through: Instant; count: number } {
  let through = first;
  let count = 1;
  for (;;) {
    const at = schedule.nextNominal(through);
    if (at === -1 || at >= end) return { through, count };
    through = at;
    count += 1;
  }
}
