import type { Instant } from "../time/instant.js";
import { DAY_MS, firstDayOfYear, yearOf } from "../zone/civil.js";
import type { Calendar } from "./calendar.js";

export interface UnknownHolidays {
  readonly message: string;
  /** The first instant of the range, or after it, in a year without holidays. */
  readonly at: Instant;
}

/** The first calendar that lacks the public holidays of a year of the range; null: the holidays of all years are known. */
export function unknownHolidays(calendars: Iterable<Calendar>, from: Instant, to: Instant): UnknownHolidays | null {
  const [first, last] = [yearOf(Math.floor(from / DAY_MS)), yearOf(Math.floor(to / DAY_MS))];
  for (const { name, knownYears } of calendars) {
    if (knownYears === null || (knownYears.from <= first && last <= knownYears.to)) continue;
    const at = first < knownYears.from ? from : Math.max(from, firstDayOfYear(knownYears.to + 1) * DAY_MS);
    const message = `Calendar "${name}" has public holidays from ${knownYears.from} to ${knownYears.to} only, and none in other years. Get those of all years, on each node, with: ${knownYears.remedy}`;
    return { message, at };
  }
  return null;
}
