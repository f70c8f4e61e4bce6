import type { CivilDay, Weekday } from "./civil-day.js";
import type { HolidayPlace, HolidayType } from "./holiday-source.js";

/** Days from..to, both included. */
export interface DayRange {
  readonly from: CivilDay;
  readonly to: CivilDay;
}

export interface MonthDay {
  readonly month: number;
  readonly day: number;
}

/** The same days of every year, both ends included; `to` before `from` runs over the new year. */
export interface YearlyRange {
  readonly from: MonthDay;
  readonly to: MonthDay;
}

/** One rule adds days to a calendar; a calendar is the union of its rules. */
export type DayRule =
  | { readonly kind: "weekdays"; readonly weekdays: readonly Weekday[] }
  | { readonly kind: "dates"; readonly ranges: readonly DayRange[]; readonly yearly: readonly YearlyRange[] }
  | { readonly kind: "holidays"; readonly place: HolidayPlace; readonly types: readonly HolidayType[] }
  | { readonly kind: "icalendar"; readonly source: string; readonly ranges: readonly DayRange[] };

/** A named set of days as its author wrote it, checked and normalised. */
export interface CalendarDefinition {
  readonly name: string;
  readonly rules: readonly DayRule[];
}
