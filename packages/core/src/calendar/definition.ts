import type { CivilDay, Weekday } from "../zone/civil.js";

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

/** `region` is the code of a subdivision, `BY`; a part of it follows a hyphen, `BY-A`. */
export interface HolidayPlace {
  readonly country: string;
  readonly region?: string;
}

export type HolidayType = "public" | "bank" | "optional" | "school" | "observance";

export const HOLIDAY_TYPES: readonly HolidayType[] = ["public", "bank", "optional", "school", "observance"];

export interface Holiday {
  readonly day: CivilDay;
  readonly name: string;
  readonly type: HolidayType;
}

/**
 * Provides public holidays. Answers never change during the life of a source. A calendar calls it once for each year and
 * again for each reason, so a source keeps a table for each year.
 */
export interface HolidaySource {
  /** Why the place is not known and what to write instead, as a sentence; null if it is known. */
  problemWith(place: HolidayPlace): string | null;
  /** Every whole-day holiday of the year, of any type, in order. */
  holidays(place: HolidayPlace, year: number): readonly Holiday[];
}
