import type { Instant, ScheduleSpec } from "@carillon/core";
import type { JobWarning } from "@carillon/contract";

export function describe(schedule: ScheduleSpec): string {
  return schedule.kind;
}

export function warningsOf(_schedule: ScheduleSpec): JobWarning[] {
  return [];
}

export function localTime(instant: Instant, _schedule: ScheduleSpec): string {
  return new Date(instant).toISOString();
}

export function durationText(ms: number): string {
  return `${ms}ms`;
}
