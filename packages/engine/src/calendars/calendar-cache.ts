import {
  type Calendar,
  type CalendarDefinition,
  type CalendarSet,
  CarillonError,
  compileCalendar,
  type HolidaySource,
  requireCalendars,
  type ScheduleSpec,
} from "@carillon/core";
import type { CalendarEdition, CalendarStore, StoredCalendar } from "@carillon/store";
import { calendarNames, calendarRuleOf, type NamedCalendars } from "../schedules/schedule-calendars.js";
import { loadHolidays } from "./public-holidays.js";

interface KnownCalendar extends CalendarEdition {
  readonly namespaceId: number;
  readonly name: string;
  readonly calendar: Calendar;
}

const none: CalendarSet = new Map();

/**
 * The compiled calendars of all namespaces, as this node last read them. A job stores the version with which its next time was computed, and a
 * fire compares a revision that grows with calendars: no safety rests on the cache.
 */
export class CalendarCache implements NamedCalendars {
  readonly #store: Pick<CalendarStore, "revision" | "inForce">;
  readonly #compiler: CalendarCompiler;
  #known: ReadonlyMap<number, KnownCalendar> = new Map();
  #sets: ReadonlyMap<number, CalendarSet> = new Map();
  #revision = -1;

  constructor(store: Pick<CalendarStore, "revision" | "inForce">, compiler: CalendarCompiler) {
    this.#store = store;
    this.#compiler = compiler;
  }

  calendarsOf(namespaceId: number): CalendarSet {
    return this.#sets.get(namespaceId) ?? none;
  }

  editionsOf(namespaceId: number, schedule: ScheduleSpec): readonly CalendarEdition[] {
    const rule = calendarRuleOf(schedule);
    if (rule === null) return [];
    requireCalendars(rule, [...this.calendarsOf(namespaceId).keys()]);
    const names = new Set(calendarNames(schedule));
    return [...this.#known.values()]
      .filter((one) => one.namespaceId === namespaceId && names.has(one.name))
      .map(({ id, version }) => ({ id, version }));
  }

  async ensure(namespaceId: number, schedules: readonly ScheduleSpec[]): Promise<void> {
    const known = this.calendarsOf(namespaceId);
    const isKnown = (schedule: ScheduleSpec): boolean => calendarNames(schedule).every((name) => known.has(name));
    if (!schedules.every(isKnown)) await this.refresh();
  }

  async refresh(): Promise<void> {
    if ((await this.#store.revision()) === this.#revision) return;
    const { revision, calendars } = await this.#store.inForce([...this.#known.values()]);
    const known = new Map<number, KnownCalendar>();
    for (const stored of calendars) known.set(stored.id, this.#compile(stored));
    // Of two concurrent reads the earlier one may be answered last.
    if (revision < this.#revision) return;
    this.#known = known;
    this.#sets = setsOf(known.values());
    this.#revision = revision;
  }

  #compile(stored: StoredCalendar): KnownCalendar {
    const { id, version, namespaceId, name, definition } = stored;
    const before = this.#known.get(id);
    if (before?.version === version) return before;
    if (definition === null) throw new Error(`calendar ${id} was not read although version ${version} is not known`);
    return { id, version, namespaceId, name, calendar: this.#compiler.compileStored(definition, version) };
  }
}

function setsOf(calendars: Iterable<KnownCalendar>): Map<number, CalendarSet> {
  const sets = new Map<number, Map<string, Calendar>>();
  for (const { namespaceId, name, calendar } of calendars) {
    const set = sets.get(namespaceId) ?? new Map<string, Calendar>();
    set.set(name, calendar);
    sets.set(namespaceId, set);
  }
  return sets;
}

export type LoadHolidays = () => HolidaySource;

/** Compiles versions of calendars; the table of public holidays is read for the first calendar that has a holiday rule. */
export class CalendarCompiler {
  readonly #load: LoadHolidays;
  #holidays: HolidaySource | null = null;

  constructor(load: LoadHolidays = loadHolidays) {
    this.#load = load;
  }

  /** Throws calendar_invalid, calendar_holidays_unavailable. */
  compile(definition: CalendarDefinition, version: number): Calendar {
    const hasHolidays = definition.rules.some((rule) => rule.kind === "holidays");
    if (!hasHolidays) return compileCalendar(definition, { version });
    this.#holidays ??= this.#load();
    try {
      return compileCalendar(definition, { version, holidays: this.#holidays });
    } catch (error) {
      // The package may be installed before the next call.
      if (error instanceof CarillonError && error.code === "calendar_holidays_unavailable") this.#holidays = null;
      throw error;
    }
  }

  /** The same for a stored calendar: one that this node cannot compile throws when it is used, not before. */
  compileStored(definition: CalendarDefinition, version: number): Calendar {
    try {
      return this.compile(definition, version);
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      return brokenCalendar(definition.name, version, error);
    }
  }
}

function brokenCalendar(name: string, version: number, error: CarillonError): Calendar {
  const refuse = (): never => {
    throw error;
  };
  return { name, version, includes: refuse, reason: refuse, yearBits: refuse, knownYears: null };
}
