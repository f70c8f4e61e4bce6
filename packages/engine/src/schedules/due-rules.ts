import type { ActiveWindow, CalendarSet, CompiledSchedule, Instant, ScheduleSpec } from "@carillon/core";
import type { CalendarEdition } from "@carillon/store";
import type { FireStore } from "./fire-store.js";
import { type NamedCalendars, noCalendars } from "./named-calendars.js";
import type { ScheduleCache } from "./schedule-cache.js";
import { WindowCache } from "./window-cache.js";

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

export interface DueRulesOptions {
  /** Checks schedules that it has not compiled before. */
  readonly schedules: ScheduleCache;
  readonly calendars?: NamedCalendars;
  readonly store: Pick<FireStore, "windows">;
}

/** Calendars and maintenance windows, which decide about occurrences beside the job itself, as this node knows them. */
export class DueRules {
  readonly #schedules: ScheduleCache;
  readonly #calendars: NamedCalendars;
  readonly #windows: WindowCache;

  constructor({ schedules, calendars = noCalendars, store }: DueRulesOptions) {
    this.#schedules = schedules;
    this.#calendars = calendars;
    this.#windows = new WindowCache(store, calendars);
  }

  /** Throws the CarillonError of a schedule that cannot be compiled. */
  compile({ jobId, namespaceId, schedule }: ScheduledJob): CompiledSchedule {
    this.editionsOf(namespaceId, schedule);
    return this.#schedules.of({ jobId, schedule, calendars: this.calendarsOf(namespaceId) });
  }

  calendarsOf(namespaceId: number): CalendarSet {
    return this.#calendars.calendarsOf(namespaceId);
  }

  /** The calendars that a schedule names, as `compile` uses them. Throws calendar_unknown. */
  editionsOf(namespaceId: number, schedule: ScheduleSpec): readonly CalendarEdition[] {
    return this.#calendars.editionsOf(namespaceId, schedule);
  }

  /** The revision of the known windows and calendars; if the database has another one, they are read again. */
  get revision(): number {
    return this.#windows.revision;
  }

  windowAt(job: WindowedJob): (instant: Instant) => ActiveWindow | null {
    return this.#windows.of(job);
  }

  async refresh(): Promise<void> {
    this.#windows.markStale();
    await this.#windows.read();
    // A new calendar does not change the revision: no time was computed with it.
    await this.#calendars.refresh();
  }
}
