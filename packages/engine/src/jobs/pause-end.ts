import type { CompiledSchedule, Instant } from "@carillon/core";
import type { StoredPause } from "@carillon/store";
import { latestDue, nextAfter } from "../schedules/plan-due.js";

/** A pause is over at its end, even if a node ends it later: the occurrences after it are late, not paused. */
function endOf({ until }: StoredPause, now: Instant): Instant {
  return until === null ? now : Math.min(until, now);
}

/** The latest occurrence inside the pause by now; the last one before the pause if there is none. */
export function latestInPause(schedule: CompiledSchedule, pause: StoredPause, now: Instant): Instant {
  return Math.max(latestDue(schedule, endOf(pause, now)), pause.after);
}

/** How many occurrences are inside the pause by now. */
export function countInPause(schedule: CompiledSchedule, pause: StoredPause, now: Instant): number {
  return schedule.countBetween(pause.after, latestDue(schedule, endOf(pause, now)) + 1);
}

/** When the job fires first after the end of its pause, by the pause's own choice of missed occurrences; null: that is not known. */
export function fireAfterPause(schedule: CompiledSchedule, pause: StoredPause): Instant | null {
  const { until, missed } = pause;
  if (until === null) return null;
  if (missed !== "none" && countInPause(schedule, pause, until) > 0) return until;
  return nextAfter(schedule, latestInPause(schedule, pause, until))?.fireAt ?? null;
}
