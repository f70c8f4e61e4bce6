import type { JobWarning } from "@carillon/contract";
import { type Instant, resolveZone, type ScheduleSpec, scheduleWarnings } from "@carillon/core";
import type { JobView } from "@carillon/engine";
import { timestamp } from "./scalars.js";

/** What is allowed but perhaps not meant, while there is something left to fire. */
export function warningsOf({ id, schedule, state }: JobView, now: Instant): JobWarning[] {
  if (schedule.kind === "at" || state === "completed" || state === "cancelled") return [];
  return scheduleWarnings(schedule, { jobId: id, checked: true }, now).map(({ code, message, at }) => ({
    code,
    detail: message,
    ...(at !== undefined && { at: timestamp(at) }),
  }));
}

/** The instant on the clocks of the schedule's zone: 2026-11-13T09:30:00.000+01:00 */
export function localTime(instant: Instant, schedule: ScheduleSpec): string {
  const zone = resolveZone("timeZone" in schedule ? (schedule.timeZone ?? "UTC") : "UTC");
  const offsetMinutes = Math.trunc(zone.offsetAt(instant) / 60_000);
  const wall = timestamp(zone.toWall(instant)).slice(0, -1);
  const size = Math.abs(offsetMinutes);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${wall}${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
