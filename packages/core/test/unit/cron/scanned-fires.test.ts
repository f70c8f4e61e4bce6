import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bruteForceFires } from "../../oracle/brute-force-fires.js";
import { clockSpans } from "../../oracle/clock-spans.js";
import { scannedFires } from "../../oracle/scanned-fires.js";
import { dailyExpressions, dayMatches, dstPolicies, minuteExpressions, zonedInstants } from "./arbitraries.js";
import { iso } from "./walk.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("the scan of whole years", () => {
  it("a scan of whole years finds the same fires as a scan of every minute, around clock changes and elsewhere", () => {
    const expressions = fc.oneof(dailyExpressions, minuteExpressions);
    const property = fc.property(
      expressions,
      zonedInstants,
      dayMatches,
      dstPolicies,
      (expression, range, dayMatch, dst) => {
        const { timeZone, instant } = range;
        const [from, to] = [instant, instant + 60 * HOUR_MS];
        const schedule = { expression, timeZone, dayMatch, dst };
        const spans = clockSpans(timeZone, from - 5 * DAY_MS, to + 5 * DAY_MS);
        expect(scannedFires(schedule, spans, from, to).map(iso)).toEqual(bruteForceFires(schedule, from, to).map(iso));
      },
    );
    fc.assert(property, { numRuns: 150 });
  });

  it.each([
    ["Australia/Lord_Howe", "2026-04-04T00:00:00Z"],
    ["Africa/Casablanca", "2026-02-14T00:00:00Z"],
    ["America/Santiago", "2026-09-05T00:00:00Z"],
    ["Antarctica/Troll", "2026-10-24T00:00:00Z"],
  ])("a scan of whole years finds fires with seconds in %s after %s", (timeZone, text) => {
    const [from, to] = [Date.parse(text), Date.parse(text) + 40 * HOUR_MS];
    const spans = clockSpans(timeZone, from - 5 * DAY_MS, to + 5 * DAY_MS);
    for (const expression of ["15,45 */20 0-3 * * *", "30 59 1,2,23 * * *", "*/10 30 * * * SUN"]) {
      const schedule = { expression, timeZone };
      expect(scannedFires(schedule, spans, from, to).map(iso)).toEqual(bruteForceFires(schedule, from, to).map(iso));
    }
  });
});
