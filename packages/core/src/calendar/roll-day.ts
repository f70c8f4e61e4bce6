import type { Roll } from "../schedule/spec.js";
import { type CivilDay, sameMonth } from "./civil-day.js";
import type { OpenDays } from "./open-days.js";

/** A closed day farther than this from every open day in the direction of its roll loses its fires. */
export const MAX_ROLL_DAYS = 366;

/**
 * The day to which a closed day's fires move, or null when they are lost. Never decreasing over closed and open days
 * alike (an open day stays), which is what lets a schedule be searched in order of its target days.
 */
export function rollDay(day: CivilDay, roll: Roll, open: OpenDays): CivilDay | null {
  if (open.isOpen(day)) return day;
  switch (roll) {
    case "skip":
      return null;
    case "next":
      return open.next(day, day + MAX_ROLL_DAYS);
    case "previous":
      return open.previous(day, day - MAX_ROLL_DAYS);
    default: {
      const next = open.next(day, day + 30);
      return next !== null && sameMonth(day, next) ? next : open.previous(day, day - MAX_ROLL_DAYS);
    }
  }
}
