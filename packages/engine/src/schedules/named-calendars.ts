import type { CalendarSet, ScheduleSpec } from "@carillon/core";
import type { CalendarEdition } from "@carillon/store";

/** The calendars by which schedules are compiled, kept in memory. */
export interface CalendarSource {
  /** Those of a namespace, by name. A calendar that did not change is the same object at every call. */
  calendarsOf(namespaceId: number): CalendarSet;
  /** Reads what changed. Asked before a job whose calendar is not known is given up. */
  refresh(): Promise<void>;
}

/** The same for whoever makes and changes jobs. */
export interface NamedCalendars extends CalendarSource {
  /** The calendars that a schedule names, as they are known. Throws calendar_unknown, with what was probably meant. */
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
