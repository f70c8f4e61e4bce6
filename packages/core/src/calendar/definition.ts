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
  /** In the language of the place. */
  readonly name: string;
  readonly englishName: string;
  readonly type: HolidayType;
}

export interface HolidayProblem {
  readonly code: "calendar_invalid" | "calendar_holidays_unavailable";
  /** What is wrong and what to write or to install instead, without its subject. */
  readonly message: string;
}

/** The first and the last year whose holidays a source knows, and how it gets the others. */
export interface KnownYears {
  readonly from: number;
  readonly to: number;
  readonly remedy: string;
}

/**
 * Provides public holidays. Answers never change during the life of a source. A calendar calls it once for each year and
 * again for each reason, so a source keeps a table for each year.
 */
export interface HolidaySource {
  /** Why the source has no such holidays; null if it has. */
  problemWith(place: HolidayPlace, types: readonly HolidayType[]): HolidayProblem | null;
  /** Every whole-day holiday of the year of these types, in order. Years outside `knownYears` have none. */
  holidays(place: HolidayPlace, year: number, types: readonly HolidayType[]): readonly Holiday[];
  /** The only years whose holidays are known; null: those of all years are. */
  knownYears(types: readonly HolidayType[]): KnownYears | null;
}
