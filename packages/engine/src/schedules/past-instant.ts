import { type AtSchedule, CarillonError, type DurationMs, type FiringPolicy, type Instant } from "@carillon/core";

/** Refuses an instant before the catch-up window. A caller that gives misfire run_once wants the run however old the instant is. */
export function refuseLongPast(
  schedule: AtSchedule,
  firing: Partial<FiringPolicy>,
  context: { readonly now: Instant; readonly catchupWindowMs: DurationMs },
): void {
  const { catchupWindowMs = context.catchupWindowMs, misfire } = firing;
  if (misfire === "run_once" || context.now - schedule.at <= catchupWindowMs) return;
  const at = new Date(schedule.at).toISOString();
  throw new CarillonError(
    "schedule_in_past",
    `${at} is longer ago than the catch-up window of ${catchupWindowMs / 3_600_000} h: give a later instant, none to run now, or misfire "run_once" to run it nevertheless.`,
  );
}
