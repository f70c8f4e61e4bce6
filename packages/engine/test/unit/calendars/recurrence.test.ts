import { civilDateOf, type CivilDay, formatCivilDay, parseCivilDay } from "@carillon/core";
import * as fc from "fast-check";
import ICAL from "ical.js";
import { describe, expect, it } from "vitest";
import { importICalendar } from "../../../src/calendars/icalendar.js";

const day = (text: string): CivilDay => parseCivilDay(text) ?? Number.NaN;

function fileWith(start: string, rule: string): string {
  return [
    "BEGIN:VCALENDAR",
    "BEGIN:VEVENT",
    "UID:one",
    `DTSTART;VALUE=DATE:${start.replaceAll("-", "")}`,
    `RRULE:${rule}`,
    "END:VEVENT",
    "END:VCALENDAR",
  ].join("\r\n");
}

/** The single days of an import, with ranges spelled out. */
function expand(start: string, rule: string, to = "2030-12-31"): string[] {
  const { ranges } = importICalendar(fileWith(start, rule), { from: day(start), to: day(to), timeZone: "UTC" });
  return ranges.flatMap((range) =>
    Array.from({ length: range.to - range.from + 1 }, (_, index) => formatCivilDay(range.from + index)),
  );
}

describe("a recurrence rule", () => {
  it.each<[start: string, rule: string, to: string, days: string[]]>([
    ["2026-12-25", "FREQ=YEARLY", "2028-12-31", ["2026-12-25", "2027-12-25", "2028-12-25"]],
    ["2024-02-29", "FREQ=YEARLY", "2032-12-31", ["2024-02-29", "2028-02-29", "2032-02-29"]],
    ["2026-01-31", "FREQ=MONTHLY", "2026-06-30", ["2026-01-31", "2026-03-31", "2026-05-31"]],
    [
      "2026-01-30",
      "FREQ=MONTHLY;BYMONTHDAY=-1",
      "2026-03-31",
      ["2026-01-30", "2026-01-31", "2026-02-28", "2026-03-31"],
    ],
    ["2026-09-07", "FREQ=YEARLY;BYMONTH=9;BYDAY=1MO", "2028-12-31", ["2026-09-07", "2027-09-06", "2028-09-04"]],
    ["2026-05-25", "FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO", "2028-12-31", ["2026-05-25", "2027-05-31", "2028-05-29"]],
    [
      "2026-01-01",
      "FREQ=YEARLY;BYYEARDAY=1,-1",
      "2027-12-31",
      ["2026-01-01", "2026-12-31", "2027-01-01", "2027-12-31"],
    ],
    [
      "2026-06-15",
      "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR",
      "2026-07-05",
      ["2026-06-15", "2026-06-19", "2026-06-29", "2026-07-03"],
    ],
    ["2026-06-01", "FREQ=DAILY;COUNT=3", "2030-12-31", ["2026-06-01", "2026-06-02", "2026-06-03"]],
    ["2026-06-01", "FREQ=DAILY;INTERVAL=10;UNTIL=20260621", "2030-12-31", ["2026-06-01", "2026-06-11", "2026-06-21"]],
    [
      "2026-01-30",
      "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
      "2026-03-31",
      ["2026-01-30", "2026-02-27", "2026-03-31"],
    ],
    // 2026 has 53 weeks by the ISO count; the Monday of the 53rd is 28 December.
    ["2026-12-28", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "2033-01-31", ["2026-12-28", "2032-12-27"]],
    [
      "2026-01-13",
      "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
      "2026-12-31",
      ["2026-01-13", "2026-02-13", "2026-03-13", "2026-11-13"],
    ],
  ])("from %s, %s up to %s", (start, rule, to, days) => {
    expect(expand(start, rule, to)).toEqual(days);
  });

  it.each([
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
  ])("ends for a rule that matches no day, with the event's first day only: %s", (rule) => {
    expect(expand("2026-06-01", rule)).toEqual(["2026-06-01"]);
  });

  it("expands recurrence rules like ical.js where that library is right", () => {
    const rule = fc.oneof(
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 40 }))
        .map(([n, c]) => `FREQ=DAILY;INTERVAL=${n};COUNT=${c}`),
      fc
        .tuple(
          fc.integer({ min: 1, max: 3 }),
          fc.subarray(["MO", "TU", "WE", "TH", "FR", "SA", "SU"], { minLength: 1 }),
        )
        .map(([n, days]) => `FREQ=WEEKLY;INTERVAL=${n};BYDAY=${days.join(",")}`),
      fc
        .tuple(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 1, max: 5 }))
        .map(([date, n]) => `FREQ=MONTHLY;INTERVAL=${n};BYMONTHDAY=${date}`),
      fc
        .tuple(fc.constantFrom("1MO", "2WE", "-1FR", "3SU"), fc.integer({ min: 1, max: 12 }))
        .map(([weekday, month]) => `FREQ=YEARLY;BYMONTH=${month};BYDAY=${weekday}`),
    );
    const start = fc.integer({ min: day("2024-01-01"), max: day("2027-12-31") });
    fc.assert(
      fc.property(rule, start, (text, from) => {
        const to = day("2030-12-31");
        const { year, month, day: date } = civilDateOf(from);
        const iterator = ICAL.Recur.fromString(text).iterator(
          ICAL.Time.fromData({ year, month, day: date, isDate: true }),
        );
        const expected = new Set([formatCivilDay(from)]);
        for (let next = iterator.next(); next && formatCivilDay(to) >= next.toString(); next = iterator.next()) {
          expected.add(next.toString());
        }
        expect(expand(formatCivilDay(from), text)).toEqual([...expected].toSorted());
      }),
      { numRuns: 40 },
    );
  });
});
