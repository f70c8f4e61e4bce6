import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCron } from "../../../src/cron/compile.js";
import { smallestCronInterval } from "../../../src/schedule/smallest-interval.js";

const smallest = (cron: string, timeZone = "UTC") => smallestCronInterval({ kind: "cron", cron, timeZone }) / 1000;

describe("the smallest interval of a cron expression", () => {
  it.each([
    ["* * * * * *", 1],
    ["*/2 * * * * *", 2],
    ["0 * * * * *", 60],
    ["*/7 * * * *", 240],
    ["0,59 1,2 * * *", 60],
    ["0 9,17 * * *", 8 * 3600],
    ["0 0 * * *", 86_400],
    ["59 23 1 * *", 28 * 86_400],
    ["0 0 1,31 * *", 86_400],
    ["0 12 * * MON", 7 * 86_400],
    ["0 0 29 2 *", 1461 * 86_400],
    ["0 6,23 * * *", 7 * 3600],
  ])("the smallest interval of %s is %i seconds", (cron, seconds) => {
    expect(smallest(cron)).toBe(seconds);
  });

  it("the smallest interval includes fires that a clock change moves together", () => {
    // 02:30 does not exist on the day of the change and fires at 03:00, half an hour before 03:30.
    expect(smallest("30 1,2,3 * * *", "Europe/Paris")).toBe(1800);
    expect(smallest("30 1,2,3 * * *", "UTC")).toBe(3600);
    expect(smallest("0 0 * * *", "Europe/Paris")).toBe(23 * 3600);
    expect(smallest("45 * * * *", "Australia/Lord_Howe")).toBe(1800);
  });

  it("the smallest interval is the distance of the closest pair of fires, for generated times of day", () => {
    const field = (max: number) =>
      fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 }).map((values) => values.join(","));
    fc.assert(
      fc.property(field(59), field(59), field(23), fc.constantFrom("*", "MON", "1,3", "*/3"), (s, m, h, dow) => {
        const cron = compileCron(`${s} ${m} ${h} * * ${dow}`);
        let closest = Infinity;
        for (let fire = cron.next(Date.UTC(2027, 0, 1)), count = 0; count < 300; count += 1) {
          const next = cron.next(fire);
          closest = Math.min(closest, next - fire);
          fire = next;
        }
        expect(smallest(`${s} ${m} ${h} * * ${dow}`) * 1000).toBe(closest);
      }),
      { numRuns: 100 },
    );
  });
});
