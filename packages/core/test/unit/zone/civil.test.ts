import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { civilDateOf, daysInMonth, epochDayOf, weekdayOf } from "../../../src/index.js";
import { monthIndexOf, monthStart } from "../../../src/zone/civil.js";

const DAY_MS = 86_400_000;
/** `Date.UTC` reads the years 0 to 99 as 1900 to 1999, so years are set afterwards. */
function dateOf(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

describe("calendar arithmetic equals Date's", () => {
  it("equals Date for the first of every month of the years 1 to 9999", () => {
    const wrong: string[] = [];
    for (let year = 1; year <= 9999; year++) {
      for (let month = 1; month <= 12; month++) {
        const day = dateOf(year, month, 1).getTime() / DAY_MS;
        const index = year * 12 + month - 1;
        if (monthStart(index) !== day || monthIndexOf(day) !== index || monthIndexOf(day - 1) !== index - 1) {
          wrong.push(`${year}-${month}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("equals Date for any day", () => {
    const property = fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (epochDay) => {
      const date = new Date(epochDay * DAY_MS);
      const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
      expect(civilDateOf(epochDay)).toEqual(civil);
      expect(epochDayOf(civil.year, civil.month, civil.day)).toBe(epochDay);
      expect(weekdayOf(epochDay)).toBe(date.getUTCDay());
      expect(daysInMonth(civil.year, civil.month)).toBe(dateOf(civil.year, civil.month + 1, 0).getUTCDate());
    });
    fc.assert(property, { numRuns: 2000 });
  });
});
