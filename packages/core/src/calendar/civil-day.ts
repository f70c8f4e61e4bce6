import { civilDateOf, daysInMonth, epochDayOf, monthIndexOf, monthStart } from "../zone/civil.js";

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
