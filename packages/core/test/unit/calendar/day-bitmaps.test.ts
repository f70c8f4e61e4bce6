import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DayBitmaps, setDays } from "../../../src/calendar/day-bitmaps.js";
import { firstDayOfYear } from "../../../src/zone/civil.js";

const FIRST = firstDayOfYear(2023);
const LAST = firstDayOfYear(2027) - 1;
const day = fc.integer({ min: FIRST, max: LAST });

describe("day bitmaps", () => {
  it("day bitmaps find members, the next and the previous one like a sorted list", () => {
    fc.assert(
      fc.property(fc.uniqueArray(day, { maxLength: 40 }), day, day, (members, from, to) => {
        const bitmaps = new DayBitmaps((year, bits) => members.forEach((one) => setDays(bits, year, one, one)));
        const sorted = members.toSorted((a, b) => a - b);
        const [low, high] = [Math.min(from, to), Math.max(from, to)];
        expect(bitmaps.has(from)).toBe(members.includes(from));
        expect(bitmaps.next(low, high)).toBe(sorted.find((one) => one >= low && one <= high) ?? null);
        expect(bitmaps.previous(high, low)).toBe(sorted.findLast((one) => one >= low && one <= high) ?? null);
      }),
    );
  });

  it("day bitmaps ignore bits beyond the last day of the year", () => {
    const onlyFullYears = new DayBitmaps((year, bits) => {
      if (year === 2025) bits.fill(-1);
    });
    expect(onlyFullYears.next(firstDayOfYear(2026), firstDayOfYear(2027))).toBeNull();
    expect(onlyFullYears.next(firstDayOfYear(2026) - 1, LAST)).toBe(firstDayOfYear(2026) - 1);
    expect(onlyFullYears.previous(LAST, FIRST)).toBe(firstDayOfYear(2026) - 1);
  });

  it("day bitmaps build each year once", () => {
    let built = 0;
    const bitmaps = new DayBitmaps(() => {
      built += 1;
    });
    for (let one = firstDayOfYear(2025); one < firstDayOfYear(2026); one += 1) bitmaps.has(one);
    bitmaps.has(firstDayOfYear(2026));
    bitmaps.has(firstDayOfYear(2025));
    expect(built).toBe(2);
  });
});
