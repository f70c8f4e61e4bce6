import { formatCivilDay } from "./civil-day.js";
import type { CalendarDefinition, DayRange, DayRule, MonthDay, YearlyRange } from "./definition.js";
import type { HolidayType } from "./holiday-source.js";
import { WEEKDAYS } from "./parse-calendar.js";

/** One rule as its author writes it; exactly one member is there. */
export interface CalendarRuleJson {
  readonly weekdays?: string[];
  readonly dates?: string[];
  readonly holidays?: { readonly country: string; readonly region?: string; readonly types: HolidayType[] };
  readonly icalendar?: { readonly source: string; readonly dates: string[] };
}

/** The rules of a calendar as `parseCalendar` reads them. */
export function formatCalendarRules({ rules }: CalendarDefinition): CalendarRuleJson[] {
  return rules.map(formatRule);
}

function formatRule(rule: DayRule): CalendarRuleJson {
  switch (rule.kind) {
    case "weekdays":
      return { weekdays: rule.weekdays.map((day) => WEEKDAYS[day] ?? "") };
    case "dates":
      return { dates: [...rule.ranges.map(formatRange), ...rule.yearly.map(formatYearly)] };
    case "holidays":
      return { holidays: { ...rule.place, types: [...rule.types] } };
    default:
      return { icalendar: { source: rule.source, dates: rule.ranges.map(formatRange) } };
  }
}

function formatRange({ from, to }: DayRange): string {
  return from === to ? formatCivilDay(from) : `${formatCivilDay(from)}/${formatCivilDay(to)}`;
}

function formatYearly({ from, to }: YearlyRange): string {
  const [first, last] = [monthDay(from), monthDay(to)];
  return first === last ? first : `${first}/${last}`;
}

function monthDay({ month, day }: MonthDay): string {
  return `${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
