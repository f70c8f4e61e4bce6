import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCron, type CronOptions } from "../../../src/index.js";
import { bruteForceFires } from "../../oracle/brute-force-fires.js";
import { clockSpans } from "../../oracle/clock-spans.js";
import { scannedFires } from "../../oracle/scanned-fires.js";
import {
  dailyExpressions,
  dayMatches,
  daysOfMonthExpressions,
  dstPolicies,
  minuteExpressions,
  secondExpressions,
  zonedInstants,
} from "./arbitraries.js";
import { compileIfItFires, firesBetween, iso } from "./walk.js";

const HOUR_MS = 3_600_000;

interface Range {
  readonly timeZone: string;
  readonly instant: number;
}

/** The fires of one range, computed by the evaluator and found by the scan. */
function bothWays(expression: string, { timeZone, instant }: Range, rangeMs: number, extra: CronOptions = {}) {
  const options = { timeZone, ...extra };
  const cron = compileIfItFires(expression, options);
  const computed = cron === null ? [] : firesBetween(cron, instant, instant + rangeMs);
  const found = bruteForceFires({ expression, ...options }, instant, instant + rangeMs);
  return { computed: computed.map(iso), found: found.map(iso) };
}

describe("the evaluator equals a scan of the wall clock, minute by minute", () => {
  it("equals a scan of the wall clock for daily expressions, around clock changes and elsewhere", () => {
    const property = fc.property(dailyExpressions, zonedInstants, (expression, range) => {
      const { computed, found } = bothWays(expression, range, 30 * HOUR_MS);
      expect(computed).toEqual(found);
    });
    fc.assert(property, { numRuns: 100 });
  });

  it("equals a scan of the wall clock for the whole dialect, under either day_match", () => {
    const property = fc.property(minuteExpressions, zonedInstants, dayMatches, (expression, range, dayMatch) => {
      const { computed, found } = bothWays(expression, range, 100 * HOUR_MS, { dayMatch });
      expect(computed).toEqual(found);
    });
    fc.assert(property, { numRuns: 60 });
  });

  it("equals a scan of the wall clock under every policy for gaps and overlaps", () => {
    const property = fc.property(dailyExpressions, zonedInstants, dstPolicies, (expression, range, dst) => {
      const { computed, found } = bothWays(expression, range, 30 * HOUR_MS, { dst });
      expect(computed).toEqual(found);
    });
    fc.assert(property, { numRuns: 100 });
  });

  it("equals a scan of the wall clock for expressions with seconds", () => {
    const property = fc.property(secondExpressions, zonedInstants, dstPolicies, (expression, range, dst) => {
      const { computed, found } = bothWays(expression, range, HOUR_MS, { dst });
      expect(computed).toEqual(found);
    });
    fc.assert(property, { numRuns: 20 });
  });
});

describe("the evaluator equals a scan of the calendar, day by day", () => {
  it("computes the days of L-nW and of ranges with # and L over two years, forwards and backwards", () => {
    const property = fc.property(daysOfMonthExpressions, zonedInstants, (expression, { timeZone, instant }) => {
      const until = instant + 730 * 24 * HOUR_MS;
      const spans = clockSpans(timeZone, instant - 120 * HOUR_MS, until + 120 * HOUR_MS);
      const found = scannedFires({ expression, timeZone }, spans, instant, until).map(iso);
      const cron = compileCron(expression, { timeZone });
      expect(firesBetween(cron, instant, until).map(iso)).toEqual(found);
      const back: number[] = [];
      for (let fire = cron.previous(until + 1); fire > instant; fire = cron.previous(fire)) back.unshift(fire);
      expect(back.map(iso)).toEqual(found);
      expect(cron.countBetween(instant, until + 1)).toBe(found.length);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe("the evaluator equals a scan of the wall clock where a zone moves by an unusual amount", () => {
  it.each([
    ["Pacific/Apia", "2011-12-29T00:00:00Z"],
    ["Pacific/Kwajalein", "1993-08-20T00:00:00Z"],
    ["Pacific/Kiritimati", "1994-12-30T12:00:00Z"],
    ["Antarctica/Casey", "2011-10-27T00:00:00Z"],
    ["Asia/Pyongyang", "2018-05-03T12:00:00Z"],
    ["America/Caracas", "2007-12-08T12:00:00Z"],
  ])("equals a scan of the wall clock in %s after %s", (timeZone, from) => {
    for (const expression of ["30 9 * * *", "0,20,40 * * * *", "*/45 * * * *", "15 0,12 28-31 * *"]) {
      const { computed, found } = bothWays(expression, { timeZone, instant: Date.parse(from) }, 48 * HOUR_MS);
      expect(computed).toEqual(found);
    }
  });

  it("equals a scan of the wall clock in Monrovia, which left an offset of 44 minutes and 30 seconds in 1972", () => {
    const range = { timeZone: "Africa/Monrovia", instant: Date.parse("1972-01-06T22:00:00Z") };
    const { computed, found } = bothWays("*/20 * * * *", range, 6 * HOUR_MS);
    expect(computed).toEqual(found);
    expect(computed[0]).toBe("1972-01-06T22:04:30.000Z");
  });
});
