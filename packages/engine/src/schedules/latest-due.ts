import type { CompiledSchedule, Instant } from "@carillon/core";

/** The latest occurrence whose time, jitter included, has come; -1 when there is none. */
export function latestCome(schedule: CompiledSchedule, now: Instant): Instant {
  let latest = schedule.previousNominal(now + 1);
  while (latest !== -1 && latest + schedule.jitterAt(latest) > now) latest = schedule.previousNominal(latest);
  return latest;
}
