import { describe, expect, it } from "vitest";
import { compileCron, parseCron } from "../../../src/index.js";
import { iso, nextFires } from "./walk.js";

/** The days in a month, or the times in a day, at which an expression fires after a date; UTC. */
function firesAfter(expression: string, from: string, count: number): string[] {
  return nextFires(compileCron(expression), Date.parse(`${from}T00:00:00Z`) - 1, count).map((fire) =>
    iso(fire).replace(/T00:00:00\.000Z$|:00\.000Z$|\.000Z$/, ""),
  );
}

/** Whether two expressions have the same next fires. */
function sameFires(one: string, other: string): boolean {
  const from = Date.parse("2026-01-01T00:00:00Z");
  const left = nextFires(compileCron(one), from, 60);
  return left.every((fire, index) => fire === nextFires(compileCron(other), from, 60)[index]);
}

describe("the dialect accepts", () => {
  it.each([
    ["30 9 * * *", "minute and hour", ["2026-02-01T09:30", "2026-02-02T09:30"]],
    ["15 30 9 * * *", "seconds first in six fields", ["2026-02-01T09:30:15", "2026-02-02T09:30:15"]],
    ["*/20 5 * * *", "a step over *", ["2026-02-01T05:00", "2026-02-01T05:20", "2026-02-01T05:40", "2026-02-02T05:00"]],
    ["5-20/10 5 * * *", "a step over a range", ["2026-02-01T05:05", "2026-02-01T05:15", "2026-02-02T05:05"]],
    [
      "35/10 5 * * *",
      "a start and a step, to the field's end",
      ["2026-02-01T05:35", "2026-02-01T05:45", "2026-02-01T05:55"],
    ],
    ["0,30 0 1-2 2 *", "lists and ranges", ["2026-02-01", "2026-02-01T00:30", "2026-02-02", "2026-02-02T00:30"]],
    ["007 005 * * *", "leading zeros", ["2026-02-01T05:07", "2026-02-02T05:07"]],
    ["0 0 1 Jan-mar/2 *", "month names in any case, with ranges and steps", ["2026-03-01", "2027-01-01"]],
    ["0 0 ? * sun", "weekday names in any case, ? for *", ["2026-02-01", "2026-02-08"]],
    ["0 0 * * 7", "7 as Sunday", ["2026-02-01", "2026-02-08"]],
    ["0 0 * * 5-7", "a range up to 7", ["2026-02-01", "2026-02-06", "2026-02-07", "2026-02-08"]],
    ["0 0 * * FRI-SUN", "a range of names up to Sunday", ["2026-02-01", "2026-02-06", "2026-02-07", "2026-02-08"]],
    ["0 0 * * 1/3", "a weekday and a step, to Sunday", ["2026-02-01", "2026-02-02", "2026-02-05", "2026-02-08"]],
    ["0 0 L * *", "the last day", ["2026-02-28", "2026-03-31", "2026-04-30"]],
    ["0 0 L-2 * *", "days before the last", ["2026-02-26", "2026-03-29", "2026-04-28"]],
    ["0 0 LW * *", "the last weekday of the month", ["2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]],
    ["0 0 L-3W * *", "the weekday nearest to a day before the last", ["2026-02-25", "2026-03-27", "2026-04-27"]],
    ["0 0 L-0W * *", "L-0W as LW", ["2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]],
    ["0 0 L-27W 2 *", "L-nW that stays in its month at the start", ["2026-02-02", "2027-02-01", "2028-02-02"]],
    ["0 0 L-30W * *", "L-nW only in months that have so many days", ["2026-03-02", "2026-05-01", "2026-07-01"]],
    ["0 0 15W * *", "the weekday nearest to a day", ["2026-02-16", "2026-03-16", "2026-04-15", "2026-05-15"]],
    ["0 0 1W 2,8 *", "nW that stays in its month at the start", ["2026-02-02", "2026-08-03"]],
    ["0 0 31W 1,5 *", "nW that stays in its month at the end", ["2026-05-29", "2027-01-29"]],
    ["0 0 31W * *", "nW only in months that have day n", ["2026-03-31", "2026-05-29", "2026-07-31"]],
    ["0 0 * * MON#1", "the nth weekday", ["2026-02-02", "2026-03-02", "2026-04-06"]],
    ["0 0 * * FRI#5", "the fifth, where there is one", ["2026-05-29", "2026-07-31", "2026-10-30"]],
    ["0 0 * * 5L", "the last of a weekday", ["2026-02-27", "2026-03-27", "2026-04-24"]],
    ["0 0 * * FRI#L", "#L as another spelling of L", ["2026-02-27", "2026-03-27", "2026-04-24"]],
    ["0 0 * * FRI#1-2", "a range after #", ["2026-02-06", "2026-02-13", "2026-03-06", "2026-03-13"]],
    [
      "0 0 * * mon-wed#1",
      "the nth of each weekday of a range",
      ["2026-02-02", "2026-02-03", "2026-02-04", "2026-03-02"],
    ],
    ["0 0 * * SAT-SUN#5", "the fifth of each, where there is one", ["2026-03-29", "2026-05-30", "2026-05-31"]],
    ["0 0 * * 1-2#1-2", "ranges on both sides of #", ["2026-02-02", "2026-02-03", "2026-02-09", "2026-02-10"]],
    ["0 0 * * 6-7L", "the last of each weekday of a range", ["2026-02-22", "2026-02-28", "2026-03-28", "2026-03-29"]],
    ["0 0 * * friL,MON#1", "lists of L and #", ["2026-02-02", "2026-02-27", "2026-03-02"]],
    ["0 0 1,15W,L 2-3 *", "lists of days with L and W", ["2026-02-01", "2026-02-16", "2026-02-28", "2026-03-01"]],
    ["0\t0  1 * *", "any blanks between fields", ["2026-02-01", "2026-03-01"]],
    ["0 0 29 2 *", "a day that only leap years have", ["2028-02-29", "2032-02-29"]],
    ["0 0 1,31 * *", "days that some months lack", ["2026-02-01", "2026-03-01", "2026-03-31", "2026-04-01"]],
  ])("accepts %j: %s", (expression, _what, expected) => {
    expect(firesAfter(expression, "2026-02-01", expected.length)).toEqual(expected);
  });

  it.each([
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"],
    ["@monthly", "0 0 1 * *"],
    ["@weekly", "0 0 * * 0"],
    ["@daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    ["  @HourLy\t", "0 * * * *"],
    ["*/1 * * * *", "* * * * *"],
    ["0 0 ?/2 * *", "0 0 */2 * *"],
    ["0 0 * * 0-7", "0 0 * * *"],
    ["0 0 * * */7", "0 0 * * 0"],
    ["0 0 L-0 * *", "0 0 L * *"],
    ["0 0 * * SUN-SUN", "0 0 * * 0"],
    ["0 0 * * MON-FRI#2", "0 0 * * 1#2,2#2,3#2,4#2,5#2"],
    ["0 0 * * MON-FRI#L", "0 0 * * 1L,2L,3L,4L,5L"],
    ["0 0 * * FRI-SUN#1", "0 0 * * 5#1,6#1,0#1"],
    ["0 0 * * SUN-SUNL", "0 0 * * 0L"],
    ["0 0 * * 3#1-5", "0 0 * * WED"],
    ["0 0 * * FRI#2-2", "0 0 * * FRI#02"],
    ["0 5 4 * * *", "5 4 * * *"],
  ])("treats %j like %j", (one, other) => {
    expect(sameFires(one, other)).toBe(true);
  });

  it("accepts an expression of 256 characters", () => {
    const minutes = Array.from({ length: 60 }, (_, minute) => minute).join(",");
    const expression = `${minutes} ${"0".repeat(256 - minutes.length - 8)}5 * * *`.padEnd(256);
    expect(expression).toHaveLength(256);
    expect(firesAfter(expression, "2026-02-01", 2)).toEqual(["2026-02-01T05:00", "2026-02-01T05:01"]);
  });
});

describe("the two day fields", () => {
  it.each([
    ["0 0 13 * FRI", "or", "either matches", ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27"]],
    ["0 0 13 * FRI", "and", "both match", ["2026-02-13", "2026-03-13", "2026-11-13"]],
    ["0 0 13 * *", "or", "a lone * leaves it to the other", ["2026-02-13", "2026-03-13"]],
    ["0 0 ? * FRI", "or", "a lone ? leaves it to the other", ["2026-02-06", "2026-02-13"]],
    ["0 0 */10 * MON", "or", "a step over * restricts", ["2026-02-01", "2026-02-02", "2026-02-09", "2026-02-11"]],
    ["0 0 */10 * MON", "and", "a step over * restricts", ["2026-05-11", "2026-06-01", "2026-08-31"]],
    ["0 0 1-31 * MON", "or", "a full range restricts", ["2026-02-01", "2026-02-02", "2026-02-03"]],
    ["0 0 1-31 * MON", "and", "a full range restricts nothing more", ["2026-02-02", "2026-02-09"]],
    ["0 0 L * FRI", "and", "L with a weekday", ["2026-07-31", "2027-04-30"]],
  ] as const)("matches days of %j under day_match %j: %s", (expression, dayMatch, _what, expected) => {
    const from = Date.parse("2026-01-31T00:00:00Z");
    const fires = nextFires(compileCron(expression, { dayMatch }), from, expected.length);
    expect(fires.map((fire) => iso(fire).slice(0, 10))).toEqual(expected);
  });
});

describe("parts as parsed", () => {
  it("parses an expression into the parts of each field", () => {
    const fields = parseCron("*/5 9-17/2 L-3,15W,LW,L-2W,L JAN,3 MON#2,5L,1/2,6-7#1");
    expect(fields.second.parts).toEqual([{ kind: "value", value: 0 }]);
    expect(fields.minute).toMatchObject({ text: "*/5", parts: [{ kind: "every", step: 5 }] });
    expect(fields.hour.parts).toEqual([{ kind: "range", from: 9, to: 17, step: 2 }]);
    expect(fields.dayOfMonth.parts).toEqual([
      { kind: "last_day", before: 3 },
      { kind: "nearest_workday", day: 15 },
      { kind: "last_workday", before: 0 },
      { kind: "last_workday", before: 2 },
      { kind: "last_day", before: 0 },
    ]);
    expect(fields.month.parts).toEqual([
      { kind: "value", value: 1 },
      { kind: "value", value: 3 },
    ]);
    expect(fields.dayOfWeek.parts).toEqual([
      { kind: "nth_weekday", weekday: 1, nth: 2 },
      { kind: "last_weekday", weekday: 5 },
      { kind: "range", from: 1, to: 7, step: 2 },
      { kind: "nth_weekday", weekday: 6, nth: 1 },
      { kind: "nth_weekday", weekday: 7, nth: 1 },
    ]);
  });
});
