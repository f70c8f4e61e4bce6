import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { DAY_MS, firstDayOfYear, formatCivilDay, weekdayOf } from "../zone/civil.js";
import { parseCalendar } from "./calendar-json.js";
import { compileCalendar } from "./calendar.js";
import { unknownHolidays } from "./unknown-holidays.js";
import type { HolidaySource } from "./definition.js";

export interface CalendarCheck {
  readonly problems: readonly ErrorItem[];
  /** The days of the requested year that the calendar contains, in order, each with its reason. Empty if there are problems. */
  readonly days: readonly { readonly date: string; readonly weekday: string; readonly reason: string }[];
}

export interface CalendarCheckOptions {
  readonly year: number;
  /** Required if the calendar has a rule for public holidays. */
  readonly holidays?: HolidaySource;
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Reads the JSON text of a calendar and lists its problems, or else its days of a year. */
export function checkCalendar(text: string, options: CalendarCheckOptions): CalendarCheck {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const detail = `The calendar is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`;
    return { problems: [{ pointer: "", code: "calendar_invalid", detail }], days: [] };
  }
  const { definition, problems } = parseCalendar(value);
  if (problems.length > 0) return { problems, days: [] };
  try {
    const context = options.holidays === undefined ? {} : { holidays: options.holidays };
    const calendar = compileCalendar(definition, context);
    const first = firstDayOfYear(options.year);
    const length = firstDayOfYear(options.year + 1) - first;
    const unknown = unknownHolidays([calendar], first * DAY_MS, first * DAY_MS);
    if (unknown !== null) {
      return {
        problems: [{ pointer: "/rules", code: "calendar_holidays_unavailable", detail: unknown.message }],
        days: [],
      };
    }
    const days = Array.from({ length }, (_, index) => first + index).flatMap((day) => {
      const reason = calendar.reason(day);
      if (reason === null) return [];
      return [{ date: formatCivilDay(day), weekday: WEEKDAYS[weekdayOf(day)] ?? "", reason }];
    });
    return { problems: [], days };
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return { problems: [{ pointer: "/rules", code: error.code, detail: error.message }], days: [] };
  }
}
