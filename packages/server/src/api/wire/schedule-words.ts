import type { JobWarning } from "@carillon/contract";
import {
  type CalendarSet,
  type Instant,
  resolveZone,
  type ScheduleSpec,
  type ScheduleWarning,
  scheduleWarnings,
} from "@carillon/core";
import type { JobView } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

/** Of a job that is over and never ran they say why. */
const whyNothing: ReadonlySet<ScheduleWarning["code"]> = new Set([
  "never_fires",
  "ends_in_past",
  "calendar_removes_all",
]);

/** What is allowed but perhaps not meant, while there is something left to fire, or if there never was. */
export function warningsOf(job: JobView, calendars: CalendarSet, now: Instant): JobWarning[] {
  const { id, schedule, state, lastRun } = job;
  if (schedule.kind === "at" || state === "cancelled" || (state === "completed" && lastRun !== null)) return [];
  // A calendar that is gone is not a reason to hide the job.
  if (calendarNames(schedule).some((name) => !calendars.has(name))) return [];
  const warnings = scheduleWarnings(schedule, { jobId: id, calendars, checked: true }, now);
  return warnings.filter(({ code }) => state !== "completed" || whyNothing.has(code)).map(wireWarning);
}

export function wireWarning({ code, message, at }: ScheduleWarning): JobWarning {
  return { code, detail: message, ...(at !== undefined && { at: timestamp(at) }) };
}

/** The calendars that a schedule names, each once. */
export function calendarNames(schedule: ScheduleSpec): string[] {
  const { exclude = [], only = [] } = ("calendars" in schedule && schedule.calendars) || {};
  return [...new Set([...exclude, ...only])];
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
