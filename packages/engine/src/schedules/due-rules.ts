import {
  type ActiveWindow,
  type CalendarSet,
  type CompiledSchedule,
  type Instant,
  MaintenanceWindows,
  type ScheduleSpec,
} from "@carillon/core";
import type { CalendarEdition, DueDefinition } from "@carillon/store";
import type { FireStore } from "./fire-store.js";
import type { ScheduleCache } from "./schedule-cache.js";
import { type CalendarSource, type NamedCalendars, noCalendars } from "./schedule-calendars.js";

export interface ScheduledJob {
  readonly jobId: string;
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
}

/** Decides whether a window covers a job. */
export type WindowedJob = Pick<DueDefinition, "namespaceId" | "queue" | "labels">;

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

interface OfNamespace {
  readonly namespace: string;
  readonly windows: MaintenanceWindows;
}

const noWindow = (): null => null;

/**
 * The maintenance windows as this node last read them. A fire compares their revision, so that a stale copy fires nothing. The revision grows
 * with new versions of calendars too; calendars are read after the revision, so they are never older than it.
 */
export class WindowCache {
  readonly #store: Pick<FireStore, "windows">;
  readonly #calendars: CalendarSource;
  #byNamespace: ReadonlyMap<number, OfNamespace> = new Map();
  #revision = -1;
  #isStale = true;

  constructor(store: Pick<FireStore, "windows">, calendars: CalendarSource = noCalendars) {
    this.#store = store;
    this.#calendars = calendars;
  }

  /** -1 before the first read: no write matches it. */
  get revision(): number {
    return this.#revision;
  }

  /** The windows may have changed: the next `read` reads them again. */
  markStale(): void {
    this.#isStale = true;
  }

  async read(): Promise<void> {
    if (!this.#isStale) return;
    // Before the query: a mark that is set while the query runs causes another read.
    this.#isStale = false;
    try {
      await this.#readChanged();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  async #readChanged(): Promise<void> {
    const { revision, byNamespace } = await this.#store.windows();
    if (revision === this.#revision) return;
    await this.#calendars.refresh();
    this.#byNamespace = new Map(
      [...byNamespace].map(([id, { namespace, windows }]) => [
        id,
        { namespace, windows: new MaintenanceWindows(windows) },
      ]),
    );
    this.#revision = revision;
  }

  /** The windows that cover a job of this definition. */
  of({ namespaceId, queue, labels }: WindowedJob): (instant: Instant) => ActiveWindow | null {
    const known = this.#byNamespace.get(namespaceId);
    if (known === undefined) return noWindow;
    const { namespace, windows } = known;
    return (instant) => windows.windowAt(instant, { namespace, queue, labels });
  }
}
