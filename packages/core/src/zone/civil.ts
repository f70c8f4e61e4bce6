/**
 * Dates of the proleptic Gregorian calendar as whole numbers, so that calendar arithmetic allocates nothing.
 * An epoch day counts days from 1970-01-01; a month index counts months from January of the year 0.
 */

/** A date without a time or a zone; `month` runs from 1 to 12. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const SECONDS_PER_DAY = 86_400;

const DAYS_0000_TO_1970 = 719_528;
/** The algorithm below counts from 0000-03-01, so that the leap day is the last day of its year. */
const DAYS_MARCH_0000_TO_1970 = 719_468;
const DAYS_PER_400_YEARS = 146_097;
const DAYS_BEFORE_MONTH = new Int32Array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]);

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** The month in which an epoch day lies. Days before the year 0 are outside the domain. */
export function monthIndexOf(epochDay: number): number {
  const day = (epochDay + DAYS_MARCH_0000_TO_1970) | 0;
  const era = (day / DAYS_PER_400_YEARS) | 0;
  const dayOfEra = (day - era * DAYS_PER_400_YEARS) | 0;
  const leapDays = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  return (era * 400 + yearOfEra) * 12 + monthFromMarch + 2;
}

/** The epoch day of the first of a month. */
export function monthStart(monthIndex: number): number {
  const year = (monthIndex / 12) | 0;
  const month = monthIndex - year * 12;
  const leapDays = (((year + 3) / 4) | 0) - (((year + 99) / 100) | 0) + (((year + 399) / 400) | 0);
  const sinceJanuary = (DAYS_BEFORE_MONTH[month] ?? 0) + (month > 1 && isLeapYear(year) ? 1 : 0);
  return 365 * year + leapDays + sinceJanuary - DAYS_0000_TO_1970;
}

/** The epoch day of a date. The day may lie outside the month (0, 32): it then counts on. */
export function epochDayOf(year: number, month: number, day: number): number {
  return monthStart(year * 12 + month - 1) + day - 1;
}

export function civilDateOf(epochDay: number): CivilDate {
  const index = monthIndexOf(epochDay);
  const year = (index / 12) | 0;
  return { year, month: index - year * 12 + 1, day: epochDay - monthStart(index) + 1 };
}

/** 0 is Sunday, 6 is Saturday. */
export function weekdayOf(epochDay: number): number {
  return (epochDay + DAYS_0000_TO_1970 + 6) % 7;
}

export function daysInMonth(year: number, month: number): number {
  const index = year * 12 + month - 1;
  return monthStart(index + 1) - monthStart(index);
}

/** A date without zone or time: whole days since 1970-01-01 in the Gregorian calendar. */
export type CivilDay = number;

/** 0 is Sunday, 6 is Saturday. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export const DAY_MS = 86_400_000;

export function firstDayOfYear(year: number): CivilDay {
  return monthStart(year * 12);
}

export function yearOf(day: CivilDay): number {
  return Math.floor(monthIndexOf(day) / 12);
}

/** Whether two days lie in the same month of the same year. */
export function sameMonth(one: CivilDay, other: CivilDay): boolean {
  return monthIndexOf(one) === monthIndexOf(other);
}

/** `2026-05-01` */
export function formatCivilDay(day: CivilDay): string {
  const date = civilDateOf(day);
  const pad = (value: number, width: number) => String(value).padStart(width, "0");
  return `${pad(date.year, 4)}-${pad(date.month, 2)}-${pad(date.day, 2)}`;
}

/** Reads `2026-05-01`; null if the text is not an existing date from the year 1 on. */
export function parseCivilDay(text: string): CivilDay | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return epochDayOf(year, month, day);
}
