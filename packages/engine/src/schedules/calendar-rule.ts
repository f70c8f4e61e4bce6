import type { CalendarRule, ScheduleSpec } from "@carillon/core";

/** What a schedule says about calendars; null for most. */
export function calendarRuleOf(schedule: ScheduleSpec): CalendarRule | null {
  return "calendars" in schedule ? (schedule.calendars ?? null) : null;
}

/** The names of the calendars that a schedule follows, each once. */
export function calendarNames(schedule: ScheduleSpec): readonly string[] {
  const rule = calendarRuleOf(schedule);
  return rule === null ? [] : [...new Set([...(rule.exclude ?? []), ...(rule.only ?? [])])];
}
