import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstDayOfYear, formatCivilDay, parseCivilDay, yearOf } from "../../../src/zone/civil.js";

describe("civil days", () => {
  it("writes and reads days as ISO dates, like Date", () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        expect(formatCivilDay(day)).toBe(text);
        expect(parseCivilDay(text)).toBe(day);
        expect(yearOf(day)).toBe(Number(text.slice(0, 4)));
        expect(formatCivilDay(firstDayOfYear(yearOf(day)))).toBe(`${text.slice(0, 4)}-01-01`);
      }),
    );
  });

  it.each(["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-1-1", "26-01-01", "0000-01-01", "", "x"])(
    "refuses %j, which is not a date",
    (text) => {
      expect(parseCivilDay(text)).toBeNull();
    },
  );
});
