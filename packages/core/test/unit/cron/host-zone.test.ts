import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerCronLine, resolveZone } from "../../../src/index.js";
import { bruteForceFires } from "../../oracle/brute-force-fires.js";
import { dailyExpressions, zonedInstants } from "./arbitraries.js";
import { compileIfItFires, firesBetween } from "./walk.js";

/** The zone of the host, and the hour of its clock at 2026-07-01T00:00Z. */
const HOSTS = [
  { host: "UTC", julyHour: 0 },
  { host: "America/New_York", julyHour: 20 },
  { host: "Asia/Kolkata", julyHour: 5 },
];

describe.each(HOSTS)("on a host in $host", ({ host, julyHour }) => {
  const before = process.env["TZ"];
  beforeAll(() => {
    process.env["TZ"] = host;
  });
  afterAll(() => {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  });

  it("the process runs in the zone of the host", () => {
    expect(new Date("2026-07-01T00:00:00Z").getHours()).toBe(julyHour);
  });

  it.each([
    ["UTC", ["2026-03-08T02:30:00.000Z", "2026-03-09T02:30:00.000Z"]],
    ["America/New_York", ["2026-03-08T07:00:00.000Z", "2026-03-09T06:30:00.000Z"]],
    ["Asia/Kolkata", ["2026-03-07T21:00:00.000Z", "2026-03-08T21:00:00.000Z"]],
  ])("a daily fire in %s is the same instant on every host", (tz, next) => {
    const line = JSON.stringify({ expr: "30 2 * * *", tz, from: "2026-03-07T12:00:00Z", count: 2 });
    expect(JSON.parse(answerCronLine(line))).toEqual({ next });
  });

  it("the wall clock of a zone does not depend on the host", () => {
    const berlin = resolveZone("Europe/Berlin");
    expect(berlin.localDate(Date.parse("2026-06-30T22:30:00Z"))).toEqual({ year: 2026, month: 7, day: 1 });
  });

  it("the evaluator equals a scan of the wall clock on every host", () => {
    const property = fc.property(dailyExpressions, zonedInstants, (expression, { timeZone, instant }) => {
      const cron = compileIfItFires(expression, { timeZone });
      const to = instant + 12 * 3_600_000;
      const computed = cron === null ? [] : firesBetween(cron, instant, to);
      expect(computed).toEqual(bruteForceFires({ expression, timeZone }, instant, to));
    });
    fc.assert(property, { numRuns: 15 });
  });
});
