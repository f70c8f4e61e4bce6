import type { CalendarSet } from "@carillon/core";

/** The calendars by which schedules are compiled, kept in memory. */
export interface CalendarSource {
  /** Those of a namespace, by name. A calendar that did not change is the same object at every call. */
  calendarsOf(namespaceId: number): CalendarSet;
  /** Reads what changed. Asked before a job whose calendar is not known is given up. */
  refresh(): Promise<void>;
}

const none: CalendarSet = new Map();

export const noCalendars: CalendarSource = { calendarsOf: () => none, refresh: async () => undefined };
