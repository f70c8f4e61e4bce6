import { CarillonError } from "../errors/carillon-error.js";
import { type CivilDay, daysInMonth, epochDayOf, firstDayOfYear, weekdayOf, yearOf } from "../zone/civil.js";
import { DayBitmaps, setDay, setDays, type YearBits } from "./day-bitmaps.js";
import type { CalendarDefinition, DayRange, DayRule, HolidaySource, KnownYears, YearlyRange } from "./definition.js";

/** A named, versioned set of days. Pure: a version always contains the same days. */
export interface Calendar {
  readonly name: string;
  readonly version: number;
  includes(day: CivilDay): boolean;
  /** Why the calendar contains the day: a holiday's name, the weekday, the imported file. Null if it does not. */
  reason(day: CivilDay): string | null;
  yearBits(year: number): YearBits;
  /** The only years whose public holidays the calendar contains, if it has a rule for some; null: it is complete. */
  readonly knownYears: KnownYears | null;
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
    knownYears: rules.find((rule) => rule.knownYears !== null)?.knownYears ?? null,
    reason: (day) => {
      for (const rule of rules) {
        const reason = rule.reason(day);
        if (reason !== null) return reason;
      }
      return null;
    },
  };
}

/** Marks the rule's days of a year, and gives the reason for one. */
interface CompiledRule {
  fill(year: number, bits: YearBits): void;
  reason(day: CivilDay): string | null;
  readonly knownYears: KnownYears | null;
}

const WEEKDAY_NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

function compileRule(calendar: string, rule: DayRule, holidays: HolidaySource | undefined): CompiledRule {
  switch (rule.kind) {
    case "weekdays":
      return compileWeekdays(rule);
    case "dates":
      return compileDates(rule.ranges, rule.yearly, "listed date");
    case "icalendar":
      return compileDates(rule.ranges, [], rule.source);
    default:
      return compileHolidays(calendar, rule, holidays);
  }
}

function compileWeekdays(rule: Extract<DayRule, { kind: "weekdays" }>): CompiledRule {
  const mask = rule.weekdays.reduce<number>((bits, weekday) => bits | (1 << weekday), 0);
  return {
    fill: (year, bits) => {
      const first = firstDayOfYear(year);
      const length = firstDayOfYear(year + 1) - first;
      const start = weekdayOf(first);
      for (let index = 0; index < length; index += 1) if (mask & (1 << ((start + index) % 7))) setDay(bits, index);
    },
    knownYears: null,
    reason: (day) => (mask & (1 << weekdayOf(day)) ? (WEEKDAY_NAMES[weekdayOf(day)] ?? null) : null),
  };
}

function compileDates(ranges: readonly DayRange[], yearly: readonly YearlyRange[], reason: string): CompiledRule {
  const inYear = (year: number) => yearly.flatMap((range) => yearlyRangesIn(range, year));
  return {
    fill: (year, bits) => {
      for (const range of ranges) setDays(bits, year, range.from, range.to);
      for (const range of inYear(year)) setDays(bits, year, range.from, range.to);
    },
    knownYears: null,
    reason: (day) => {
      const holds = (range: DayRange) => range.from <= day && day <= range.to;
      return ranges.some(holds) || inYear(yearOf(day)).some(holds) ? reason : null;
    },
  };
}

/** 29 February exists in leap years only: a range that begins or ends there shrinks in the others. */
function yearlyRangesIn({ from, to }: YearlyRange, year: number): DayRange[] {
  const begin = epochDayOf(year, from.month, from.day);
  const end = epochDayOf(year, to.month, Math.min(to.day, daysInMonth(year, to.month)));
  const overNewYear = to.month < from.month || (to.month === from.month && to.day < from.day);
  if (!overNewYear) return [{ from: begin, to: end }];
  return [
    { from: firstDayOfYear(year), to: end },
    { from: begin, to: firstDayOfYear(year + 1) - 1 },
  ];
}

function compileHolidays(
  calendar: string,
  rule: Extract<DayRule, { kind: "holidays" }>,
  source: HolidaySource | undefined,
): CompiledRule {
  if (source === undefined) {
    throw new CarillonError(
      "calendar_holidays_unavailable",
      `Calendar "${calendar}" has a rule for public holidays, but this process has no source of holidays.`,
    );
  }
  const problem = source.problemWith(rule.place, rule.types);
  if (problem !== null) throw new CarillonError(problem.code, `Calendar "${calendar}": ${problem.message}`);
  const ofYear = (year: number) => source.holidays(rule.place, year, rule.types);
  return {
    knownYears: source.knownYears(rule.types),
    fill: (year, bits) => {
      for (const { day } of ofYear(year)) setDays(bits, year, day, day);
    },
    reason: (day) => {
      const found = ofYear(yearOf(day)).find((holiday) => holiday.day === day);
      if (found === undefined) return null;
      return found.name === found.englishName ? found.name : `${found.name} (${found.englishName})`;
    },
  };
}
