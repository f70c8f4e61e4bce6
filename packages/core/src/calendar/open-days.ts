import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { CalendarRule } from "../schedule/spec.js";
import type { Calendar, CalendarSet } from "./calendar.js";
import type { CivilDay } from "./civil-day.js";
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
  const exclude = named(rule.exclude ?? [], "exclude", calendars);
  const only = named(rule.only ?? [], "only", calendars);
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

function named(names: readonly string[], list: "exclude" | "only", calendars: CalendarSet): Calendar[] {
  const items: ErrorItem[] = [];
  const found = names.flatMap((name, index) => {
    const calendar = calendars.get(name);
    if (calendar !== undefined) return [calendar];
    items.push({
      pointer: `/calendars/${list}/${index}`,
      code: "schedule_invalid",
      detail: `there is no calendar "${name}" in this namespace`,
    });
    return [];
  });
  const [first] = items;
  if (first !== undefined) throw new CarillonError("schedule_invalid", first.detail, { items });
  return found;
}
