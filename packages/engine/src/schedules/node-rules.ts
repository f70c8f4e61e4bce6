import type { DueRules } from "./due-rules.js";
import { type NamedCalendars, noCalendars } from "./named-calendars.js";
import type { FireStore } from "./fire-store.js";
import { Maintenance } from "./maintenance-windows.js";
import type { ScheduleCache } from "./schedule-cache.js";

export interface NodeRulesOptions {
  /** Checks what it has not compiled before. */
  readonly schedules: ScheduleCache;
  readonly calendars?: NamedCalendars;
  readonly store: Pick<FireStore, "windows">;
}

/** Schedules, calendars and windows as changes of jobs need them: read again whenever they are not the newest. */
export function nodeRules({ schedules, calendars = noCalendars, store }: NodeRulesOptions): DueRules {
  const maintenance = new Maintenance(store, calendars);
  return {
    compile: ({ jobId, namespaceId, schedule }) => {
      calendars.editionsOf(namespaceId, schedule);
      return schedules.of({ jobId, schedule, calendars: calendars.calendarsOf(namespaceId) });
    },
    calendarsOf: (namespaceId) => calendars.calendarsOf(namespaceId),
    editionsOf: (namespaceId, schedule) => calendars.editionsOf(namespaceId, schedule),
    get revision() {
      return maintenance.revision;
    },
    windowAt: (job) => maintenance.of(job),
    async refresh() {
      maintenance.markStale();
      await maintenance.read();
      // One that is new does not show in the revision: nothing was computed with it.
      await calendars.refresh();
    },
  };
}
