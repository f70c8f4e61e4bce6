import type { CalendarRule, CalendarSet, ScheduleSpec } from "@carillon/core";
import type { CalendarEdition } from "@carillon/store";

/** The compiled calendars of schedules, in memory. */
export interface CalendarSource {
  /** The calendars of a namespace, by name. An unchanged calendar is the same object at every call. */
  calendarsOf(namespaceId: number): CalendarSet;
  /** Reads what changed. Called before a job with an unknown calendar is refused. */
  refresh(): Promise<void>;
}

/** The same for callers that create and change jobs. */
export interface NamedCalendars extends CalendarSource {
  /** The known editions of the calendars that a schedule names. Throws calendar_unknown, with the most similar name. */
  editionsOf(namespaceId: number, schedule: ScheduleSpec): readonly CalendarEdition[];
  /** Reads what changed, if a schedule names a calendar that is not known. */
  ensure(namespaceId: number, schedules: readonly ScheduleSpec[]): Promise<void>;
}

const none: CalendarSet = new Map();

export const noCalendars: NamedCalendars = {
  calendarsOf: () => none,
  editionsOf: () => [],
  ensure: async () => undefined,
  refresh: async () => undefined,
};

/** The calendar rule of a schedule; null: it has none. */
export function calendarRuleOf(schedule: ScheduleSpec): CalendarRule | null {
  return "calendars" in schedule ? (schedule.calendars ?? null) : null;
}

/** The names of the calendars that a schedule follows, each once. */
export function calendarNames(schedule: ScheduleSpec): readonly string[] {
  const rule = calendarRuleOf(schedule);
  return rule === null ? [] : [...new Set([...(rule.exclude ?? []), ...(rule.only ?? [])])];
}
