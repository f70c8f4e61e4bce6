import type { CalendarEdition } from "@carillon/store";
import type { ActiveWindow, CalendarSet, CompiledSchedule, Instant, ScheduleSpec } from "@carillon/core";

export interface ScheduledJob {
  readonly jobId: string;
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
}

export interface WindowedJob {
  readonly namespaceId: number;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What decides over occurrences beside the job itself: calendars and maintenance windows, as this node knows them. */
export interface DueRules {
  /** Throws what is wrong with the schedule. */
  compile(job: ScheduledJob): CompiledSchedule;
  calendarsOf(namespaceId: number): CalendarSet;
  /** The calendars that a schedule names, as `compile` uses them. Throws calendar_unknown. */
  editionsOf(namespaceId: number, schedule: ScheduleSpec): readonly CalendarEdition[];
  /** The revision of the windows that are known, and of the calendars; one that is not the database's is read again. */
  readonly revision: number;
  windowAt(job: WindowedJob): (instant: Instant) => ActiveWindow | null;
  refresh(): Promise<void>;
}
