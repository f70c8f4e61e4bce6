import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCron, FIRST_INSTANT, LAST_INSTANT, NEVER } from "../../../src/index.js";
import { dayMatches, dstPolicies, expressions, zonedInstants } from "./arbitraries.js";
import { compileIfItFires, nextFires } from "./walk.js";

const anything = fc.record({
  expression: expressions,
  at: zonedInstants,
  dst: dstPolicies,
  dayMatch: dayMatches,
});

/** The maximum of months and spans of constant offset that one search visits. */
const MAX_STEPS = 600;

describe("the laws of next and previous", () => {
  it("fires are strictly increasing and strictly later than the start of the search", () => {
    const property = fc.property(anything, ({ expression, at, dst, dayMatch }) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      if (cron === null) return;
      const fires = [at.instant, ...nextFires(cron, at.instant, 40)];
      expect(fires.every((fire, index) => index === 0 || fire > (fires[index - 1] ?? Infinity))).toBe(true);
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it("every instant between two fires has the later one as its next fire, also between milliseconds", () => {
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const property = fc.property(anything, place, ({ expression, at, dst, dayMatch }, part) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      if (cron === null) return;
      const [first = NEVER, second = NEVER] = nextFires(cron, at.instant, 2);
      if (second === NEVER) return;
      for (const from of [first, first + 0.25, first + (second - first) * part, second - 1, second - 0.25]) {
        expect(cron.next(from)).toBe(from < second ? second : cron.next(second));
      }
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it("previous and next are inverse", () => {
    const property = fc.property(anything, ({ expression, at, dst, dayMatch }) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      if (cron === null) return;
      const fires = nextFires(cron, at.instant, 12);
      for (const [index, fire] of fires.entries()) {
        expect(cron.previous(fire)).toBe(fires[index - 1] ?? cron.previous(at.instant + 1));
        expect(cron.previous(fire + 0.5)).toBe(fire);
      }
      const earlier = cron.previous(at.instant);
      if (earlier === NEVER || fires[0] === undefined) return;
      expect(earlier).toBeLessThan(at.instant);
      expect(cron.next(earlier)).toBe(cron.next(at.instant - 1));
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it("walking back finds the same fires as walking forward", () => {
    const property = fc.property(anything, ({ expression, at, dst, dayMatch }) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      const fires = cron === null ? [] : nextFires(cron, at.instant, 30);
      const last = fires.at(-1);
      if (cron === null || last === undefined) return;
      const back: number[] = [];
      for (let fire = last; fire > at.instant; fire = cron.previous(fire)) back.unshift(fire);
      expect(back).toEqual(fires);
    });
    fc.assert(property, { numRuns: 500 });
  });
});

describe("every answer takes a bounded number of steps", () => {
  it("every search of any expression takes a bounded number of steps, forwards and backwards", () => {
    const property = fc.property(anything, ({ expression, at, dst, dayMatch }) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      if (cron === null) return;
      cron.next(at.instant);
      const forward = cron.steps;
      cron.previous(at.instant);
      expect(forward).toBeLessThanOrEqual(MAX_STEPS);
      expect(cron.steps - forward).toBeLessThanOrEqual(MAX_STEPS);
    });
    fc.assert(property, { numRuns: 1500 });
  });

  it.each([
    ["0 0 29 2 *", {}, "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z", "UTC"],
    ["0 0 * 2 FRI#5", {}, "2036-03-01T00:00:00Z", "2064-02-29T00:00:00.000Z", "UTC"],
    ["0 0 29 2 SUN", { dayMatch: "and" }, "2088-03-01T00:00:00Z", "2128-02-28T23:00:00.000Z", "Europe/Berlin"],
    ["0 0 L 2 MON#5", { dayMatch: "and" }, "2072-03-01T00:00:00Z", "2112-02-28T23:00:00.000Z", "Europe/Berlin"],
  ] as const)("%s %o is found from %s", (expression, options, from, expected, timeZone) => {
    const cron = compileCron(expression, { timeZone, ...options });
    const fire = cron.next(Date.parse(from));
    expect(new Date(fire).toISOString()).toBe(expected);
    expect(cron.steps).toBeLessThanOrEqual(MAX_STEPS);
    expect(cron.previous(fire)).toBeLessThan(Date.parse(from));
  });

  it("an expression whose time each yearly gap skips never fires under gap: skip", () => {
    const cron = compileCron("30 2 * 3 SUN#2", { timeZone: "America/New_York", dst: { gap: "skip" } });
    expect(cron.next(Date.parse("2026-01-01T00:00:00Z"))).toBe(NEVER);
    expect(cron.steps).toBeLessThanOrEqual(MAX_STEPS);
    expect(new Date(cron.previous(Date.parse("2026-01-01T00:00:00Z"))).toISOString()).toBe("2006-03-12T07:30:00.000Z");
  });
});

describe("the ends of time", () => {
  it("fires only in the years 0001 to 9999", () => {
    const cron = compileCron("0 0 1 1 *");
    expect(cron.next(-Infinity)).toBe(FIRST_INSTANT);
    expect(cron.previous(FIRST_INSTANT)).toBe(NEVER);
    expect(cron.previous(FIRST_INSTANT + 1)).toBe(FIRST_INSTANT);
    expect(cron.next(Date.UTC(9999, 0, 1) - 1)).toBe(Date.UTC(9999, 0, 1));
    expect(cron.next(Date.UTC(9999, 0, 1))).toBe(NEVER);
    expect(cron.previous(Infinity)).toBe(Date.UTC(9999, 0, 1));
    expect(cron.next(LAST_INSTANT)).toBe(NEVER);
    expect(cron.next(NaN)).toBe(NEVER);
    expect(cron.previous(NaN)).toBe(NEVER);
  });

  it("every search ends near the years 0001 and 9999", () => {
    const near = fc.integer({ min: 0, max: 400 * 86_400_000 });
    const property = fc.property(anything, near, ({ expression, at, dst, dayMatch }, distance) => {
      const cron = compileIfItFires(expression, { timeZone: at.timeZone, dst, dayMatch });
      if (cron === null) return;
      const last = nextFires(cron, LAST_INSTANT - distance, 50).at(-1) ?? FIRST_INSTANT;
      expect(last).toBeLessThanOrEqual(LAST_INSTANT);
      expect(cron.previous(FIRST_INSTANT + distance) === NEVER || cron.next(-Infinity) < FIRST_INSTANT + distance).toBe(
        true,
      );
      expect(cron.steps).toBeLessThanOrEqual(53 * MAX_STEPS);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("keeps to the years 0001 to 9999 in zones east and west of Greenwich", () => {
    for (const timeZone of ["Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Australia/Sydney"]) {
      const cron = compileCron("* * * * * *", { timeZone });
      expect(cron.next(-Infinity)).toBe(FIRST_INSTANT);
      expect(cron.previous(Infinity)).toBe(LAST_INSTANT - 999);
      expect(cron.next(LAST_INSTANT - 999)).toBe(NEVER);
      expect(cron.previous(FIRST_INSTANT)).toBe(NEVER);
    }
  });
});
