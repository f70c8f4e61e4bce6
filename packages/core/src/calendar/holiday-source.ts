import type { CivilDay } from "./civil-day.js";

/** `region` is the subdivision's code, `BY`; a finer one follows a hyphen, `BY-A`. */
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
 * Where holidays come from. Answers are the same for equal questions for as long as the source lives, and come from
 * tables that hold whole years: calendars ask once for each year.
 */
export interface HolidaySource {
  /** What is wrong with the place, with what would be right; null when it is known. */
  problemWith(place: HolidayPlace): string | null;
  /** Every holiday that takes a whole day of this year, of any type, in order. */
  holidays(place: HolidayPlace, year: number): readonly Holiday[];
}
