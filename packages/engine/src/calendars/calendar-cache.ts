import { type Calendar, type CalendarSet, requireCalendars, type ScheduleSpec } from "@carillon/core";
import type { NamedCalendars } from "../schedules/named-calendars.js";
import type { CalendarEdition, CalendarStore, StoredCalendar } from "@carillon/store";
import type { CalendarCompiler } from "./compile-edition.js";
import { calendarNames, calendarRuleOf } from "../schedules/calendar-rule.js";

interface KnownCalendar extends CalendarEdition {
  readonly namespaceId: number;
  readonly name: string;
  readonly calendar: Calendar;
}

const none: CalendarSet = new Map();

/**
 * The calendars of all namespaces, compiled, as this node last read them. A job remembers the version with which its next
 * time was computed, and a fire compares a revision that grows with calendars: a stale copy does no lasting harm.
 */
export class NodeCalendars implements NamedCalendars {
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
    for (const stored of calendars) known.set(stored.id, await this.#compile(stored));
    // Two reads may overtake one another; the older one has nothing to say.
    if (revision < this.#revision) return;
    this.#known = known;
    this.#sets = setsOf(known.values());
    this.#revision = revision;
  }

  async #compile(stored: StoredCalendar): Promise<KnownCalendar> {
    const { id, version, namespaceId, name, definition } = stored;
    const before = this.#known.get(id);
    if (before?.version === version) return before;
    if (definition === null) throw new Error(`calendar ${id} was not read although version ${version} is not known`);
    return { id, version, namespaceId, name, calendar: await this.#compiler.compileStored(definition, version) };
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
