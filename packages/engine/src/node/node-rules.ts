import type { DueRules } from "../jobs/change/due-rules.js";
import { type CalendarSource, noCalendars } from "../scheduler/calendar-source.js";
import type { FireStore } from "../scheduler/fire-store.js";
import { Maintenance } from "../scheduler/maintenance.js";
import type { ScheduleCache } from "../scheduler/schedule-cache.js";

export interface NodeRulesOptions {
  /** Checks what it has not compiled before. */
  readonly schedules: ScheduleCache;
  readonly calendars?: CalendarSource;
  readonly store: Pick<FireStore, "windows">;
}

/** Schedules, calendars and windows as changes of jobs need them: read again whenever they are not the newest. */
export function nodeRules({ schedules, calendars = noCalendars, store }: NodeRulesOptions): DueRules {
  const maintenance = new Maintenance(store);
  return {
    compile: ({ jobId, namespaceId, schedule }) =>
      schedules.of({ jobId, schedule, calendars: calendars.calendarsOf(namespaceId) }),
    calendarsOf: (namespaceId) => calendars.calendarsOf(namespaceId),
    get revision() {
      return maintenance.revision;
    },
    windowAt: (job) => maintenance.of(job),
    async refresh() {
      maintenance.markStale();
      await maintenance.read();
    },
  };
}
