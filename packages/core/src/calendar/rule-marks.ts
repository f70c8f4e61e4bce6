import { CarillonError } from "../errors/carillon-error.js";
import { daysInMonth, epochDayOf, weekdayOf } from "../zone/civil.js";
import { type CivilDay, firstDayOfYear, yearOf } from "./civil-day.js";
import { setDay, setDays, type YearBits } from "./day-bitmaps.js";
import type { DayRange, DayRule, YearlyRange } from "./definition.js";
import type { HolidaySource } from "./holiday-source.js";

/** A rule ready to be asked: it marks its days of a year, and says why it holds a day. */
export interface RuleMarks {
  fill(year: number, bits: YearBits): void;
  reason(day: CivilDay): string | null;
}

const WEEKDAY_NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

export function compileRule(calendar: string, rule: DayRule, holidays: HolidaySource | undefined): RuleMarks {
  switch (rule.kind) {
    case "weekdays":
      return weekdayMarks(rule);
    case "dates":
      return dateMarks(rule.ranges, rule.yearly, "listed date");
    case "icalendar":
      return dateMarks(rule.ranges, [], rule.source);
    default:
      return holidayMarks(calendar, rule, holidays);
  }
}

function weekdayMarks(rule: Extract<DayRule, { kind: "weekdays" }>): RuleMarks {
  const mask = rule.weekdays.reduce<number>((bits, weekday) => bits | (1 << weekday), 0);
  return {
    fill: (year, bits) => {
      const first = firstDayOfYear(year);
      const length = firstDayOfYear(year + 1) - first;
      const start = weekdayOf(first);
      for (let index = 0; index < length; index += 1) if (mask & (1 << ((start + index) % 7))) setDay(bits, index);
    },
    reason: (day) => (mask & (1 << weekdayOf(day)) ? (WEEKDAY_NAMES[weekdayOf(day)] ?? null) : null),
  };
}

function dateMarks(ranges: readonly DayRange[], yearly: readonly YearlyRange[], reason: string): RuleMarks {
  const inYear = (year: number) => yearly.flatMap((range) => yearlyRangesIn(range, year));
  return {
    fill: (year, bits) => {
      for (const range of ranges) setDays(bits, year, range.from, range.to);
      for (const range of inYear(year)) setDays(bits, year, range.from, range.to);
    },
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

function holidayMarks(
  calendar: string,
  rule: Extract<DayRule, { kind: "holidays" }>,
  source: HolidaySource | undefined,
): RuleMarks {
  if (source === undefined) {
    throw new CarillonError(
      "calendar_holidays_unavailable",
      `calendar "${calendar}" has a rule for public holidays, but this process has no source of holidays`,
    );
  }
  const problem = source.problemWith(rule.place);
  if (problem !== null) throw new CarillonError("calendar_invalid", `calendar "${calendar}": ${problem}`);
  const ofYear = (year: number) =>
    source.holidays(rule.place, year).filter((holiday) => rule.types.includes(holiday.type));
  return {
    fill: (year, bits) => {
      for (const { day } of ofYear(year)) setDays(bits, year, day, day);
    },
    reason: (day) => ofYear(yearOf(day)).find((holiday) => holiday.day === day)?.name ?? null,
  };
}
