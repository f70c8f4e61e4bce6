import type { CivilDay } from "./civil-day.js";
import { DayBitmaps, type YearBits } from "./day-bitmaps.js";
import type { CalendarDefinition } from "./definition.js";
import type { HolidaySource } from "./holiday-source.js";
import { compileRule } from "./rule-marks.js";

/** A named, versioned set of days. Pure: one version always holds the same days. */
export interface Calendar {
  readonly name: string;
  readonly version: number;
  includes(day: CivilDay): boolean;
  /** Why the day is in: a holiday's name, the weekday, the imported file. Null when it is not in. */
  reason(day: CivilDay): string | null;
  yearBits(year: number): YearBits;
}

/** The calendars that a namespace has, by name. */
export type CalendarSet = ReadonlyMap<string, Calendar>;

export interface CalendarContext {
  readonly version?: number;
  readonly holidays?: HolidaySource;
}

export function compileCalendar(definition: CalendarDefinition, context: CalendarContext = {}): Calendar {
  const rules = definition.rules.map((rule) => compileRule(definition.name, rule, context.holidays));
  const days = new DayBitmaps((year, bits) => {
    for (const rule of rules) rule.fill(year, bits);
  });
  return {
    name: definition.name,
    version: context.version ?? 1,
    includes: (day) => days.has(day),
    yearBits: (year) => days.yearBits(year),
    reason: (day) => {
      for (const rule of rules) {
        const reason = rule.reason(day);
        if (reason !== null) return reason;
      }
      return null;
    },
  };
}
