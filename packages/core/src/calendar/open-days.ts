import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { CalendarRule, Roll } from "../schedule/spec.js";
import { similarWord } from "../spelling/similar-word.js";
import { type CivilDay, sameMonth } from "../zone/civil.js";
import type { Calendar, CalendarSet } from "./calendar.js";
import { DayBitmaps } from "./day-bitmaps.js";

/**
 * The days on which a schedule may fire, its business days: in at least one calendar of `only` where that is given,
 * and in none of `exclude`.
 */
export interface OpenDays {
  isOpen(day: CivilDay): boolean;
  /** The first open day with day <= open <= limit, or null. */
  next(day: CivilDay, limit: CivilDay): CivilDay | null;
  /** The last open day with limit <= open <= day, or null. */
  previous(day: CivilDay, limit: CivilDay): CivilDay | null;
  /** The calendar that closes the day; null when it is open. */
  closedBy(day: CivilDay): Calendar | null;
}

export function compileOpenDays(rule: CalendarRule, calendars: CalendarSet): OpenDays {
  const exclude = calendarsNamed(rule.exclude ?? [], "exclude", calendars);
  const only = calendarsNamed(rule.only ?? [], "only", calendars);
  const open = new DayBitmaps((year, bits) => {
    if (only.length === 0) bits.fill(-1);
    for (const calendar of only)
      calendar.yearBits(year).forEach((word, index) => (bits[index] = (bits[index] ?? 0) | word));
    for (const calendar of exclude)
      calendar.yearBits(year).forEach((word, index) => (bits[index] = (bits[index] ?? 0) & ~word));
  });
  return {
    isOpen: (day) => open.has(day),
    next: (day, limit) => open.next(day, limit),
    previous: (day, limit) => open.previous(day, limit),
    closedBy: (day) => (open.has(day) ? null : (exclude.find((calendar) => calendar.includes(day)) ?? only[0] ?? null)),
  };
}

function calendarsNamed(names: readonly string[], list: "exclude" | "only", calendars: CalendarSet): Calendar[] {
  const items: ErrorItem[] = [];
  const found = names.flatMap((name, index) => {
    const calendar = calendars.get(name);
    if (calendar !== undefined) return [calendar];
    items.push({
      pointer: `/calendars/${list}/${index}`,
      code: "schedule_invalid",
      detail: `Calendar "${name}" does not exist in this namespace.`,
    });
    return [];
  });
  const [first] = items;
  if (first !== undefined) throw new CarillonError("schedule_invalid", first.detail, { items });
  return found;
}

/** A closed day that is farther than this from an open day, in the direction of its roll, loses its fires. */
export const MAX_ROLL_DAYS = 366;

/**
 * The day to which the fires of a closed day move, or null if they are lost; an open day keeps its own. The result never
 * decreases from one day to the next, so a schedule can be searched in order of its target days.
 */
export function rollDay(day: CivilDay, roll: Roll, open: OpenDays): CivilDay | null {
  if (open.isOpen(day)) return day;
  switch (roll) {
    case "skip":
      return null;
    case "next":
      return open.next(day, day + MAX_ROLL_DAYS);
    case "previous":
      return open.previous(day, day - MAX_ROLL_DAYS);
    default: {
      const next = open.next(day, day + 30);
      return next !== null && sameMonth(day, next) ? next : open.previous(day, day - MAX_ROLL_DAYS);
    }
  }
}

/** Throws `calendar_unknown` for each name that is not among the namespace's calendars. Pointers are relative to the job. */
export function requireCalendars(rule: CalendarRule, known: readonly string[]): void {
  const items = (["exclude", "only"] as const).flatMap((list) =>
    (rule[list] ?? []).flatMap((name, index): ErrorItem[] => {
      if (known.includes(name)) return [];
      const pointer = `/schedule/calendars/${list}/${index}`;
      return [{ pointer, code: "calendar_unknown", detail: unknownCalendar(name, known) }];
    }),
  );
  const [first] = items;
  if (first !== undefined) throw new CarillonError("calendar_unknown", `${first.pointer}: ${first.detail}`, { items });
}

function unknownCalendar(name: string, known: readonly string[]): string {
  const similar = similarWord(name, known);
  if (similar !== undefined) return `Calendar "${name}" does not exist; did you mean ${similar}?`;
  const some = known.length === 0 ? "the namespace has none" : `the namespace has ${known.slice(0, 10).join(", ")}`;
  return `Calendar "${name}" does not exist; ${some}.`;
}
