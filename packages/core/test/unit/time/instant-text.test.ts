import { CarillonError, FIRST_INSTANT, formatInstant, LAST_INSTANT, parseInstant } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const instants = fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT });

describe("parseInstant", () => {
  it.each([
    ["2026-03-01T08:00:00Z", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01t08:00:00z", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01T08:00Z", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01T09:00:00+01:00", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01T09:00:00+0100", Date.UTC(2026, 2, 1, 8)],
    ["2026-02-28T23:30:00-08:30", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01T08:00:00-00:00", Date.UTC(2026, 2, 1, 8)],
    ["2026-03-01T08:00:00.5Z", Date.UTC(2026, 2, 1, 8, 0, 0, 500)],
    ["2026-03-01T08:00:00.123999999Z", Date.UTC(2026, 2, 1, 8, 0, 0, 123)],
    ["1969-12-31T23:59:59.999Z", -1],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["0001-01-01T00:00:00Z", FIRST_INSTANT],
    ["9999-12-31T23:59:59.999Z", LAST_INSTANT],
  ])("reads the instant %s", (text, expected) => {
    expect(parseInstant(text)).toBe(expected);
  });

  it.each([
    ["", "cannot be parsed"],
    ["now", "cannot be parsed"],
    ["2026-03-01T08:00:00", "has no offset"],
    ["2026-03-01", "has no time"],
    ["2026-03-01 08:00:00Z", "has a blank instead of the T"],
    ["1772352000000", "is a bare number"],
    ["2026-02-29T00:00:00Z", "has the day 29"],
    ["1900-02-29T00:00:00Z", "has the day 29"],
    ["2026-04-31T00:00:00Z", "has the day 31"],
    ["2026-04-00T00:00:00Z", "has the day 0"],
    ["2026-13-01T00:00:00Z", "has the invalid month 13"],
    ["2026-00-01T00:00:00Z", "has the invalid month 0"],
    ["2026-03-01T24:00:00Z", "has the hour 24; midnight is 00:00 of the next day"],
    ["2026-03-01T25:00:00Z", "has the invalid hour 25"],
    ["2026-03-01T08:60:00Z", "has the invalid minute 60"],
    ["2016-12-31T23:59:60Z", "has a leap second"],
    ["2026-03-01T08:00:61Z", "has the invalid second 61"],
    ["2026-03-01T08:00:00+24:00", "has the invalid offset +24:00"],
    ["2026-03-01T08:00:00+01:60", "has the invalid offset +01:60"],
    ["2026-03-01T08:00:00+01", "cannot be parsed"],
    ["2026-03-01T08:00:00.Z", "cannot be parsed"],
    ["+002026-03-01T08:00:00Z", "cannot be parsed"],
    ["2026-3-1T8:00:00Z", "cannot be parsed"],
    ["2026-03-01T08:00:00Z\n", "cannot be parsed"],
    ["2026-03-01T08:00:00[Europe/Paris]", "cannot be parsed"],
    ["0000-01-01T00:00:00Z", "lies outside the years 0001 to 9999"],
    ["0001-01-01T00:00:00+00:01", "lies outside the years 0001 to 9999"],
    ["9999-12-31T23:59:59-00:01", "lies outside the years 0001 to 9999"],
    ["2".repeat(1_000), "has more than 64 characters"],
  ])("refuses the instant %j, which %s", (text, problem) => {
    const error = refusalOf(() => parseInstant(text));
    expect(error.code).toBe("instant_invalid");
    expect(error.message).toContain(problem);
    expect(error.message).toContain("; write it as 2026-03-01T09:00:00+01:00 or 2026-03-01T08:00:00Z.");
  });

  it("reads a wall time in the given zone", () => {
    expect(parseInstant("2026-07-01T09:00:00", "Europe/Paris")).toBe(Date.UTC(2026, 6, 1, 7));
    expect(parseInstant("2026-07-01T09:00:00Z", "Europe/Paris")).toBe(Date.UTC(2026, 6, 1, 9));
  });

  it("reads a skipped wall time as the first instant after the gap, a repeated one as its first pass", () => {
    expect(parseInstant("2026-03-29T02:30:00", "Europe/Paris")).toBe(Date.UTC(2026, 2, 29, 1));
    expect(parseInstant("2026-10-25T02:30:00", "Europe/Paris")).toBe(Date.UTC(2026, 9, 25, 0, 30));
  });

  it("reads back any instant that formatInstant wrote, at any offset", () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -1_439, max: 1_439 }), (instant, minutes) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
        const shifted = instant + minutes * 60_000;
        fc.pre(shifted >= FIRST_INSTANT && shifted <= LAST_INSTANT);
        const two = (n: number) => String(n).padStart(2, "0");
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        expect(parseInstant(formatInstant(shifted).replace("Z", offset))).toBe(instant);
      }),
    );
  });

  it("parseInstant agrees with Date.parse on every text that both accept", () => {
    const two = fc.integer({ min: 0, max: 61 }).map((n) => String(n).padStart(2, "0"));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999 }), two, two, two, two, two, (year, month, day, h, m, s) => {
        const text = `${String(year).padStart(4, "0")}-${month}-${day}T${h}:${m}:${s}Z`;
        const platform = Date.parse(text);
        // The platform accepts 24:00 and days up to 31 in every month, and returns another day.
        const sound = !Number.isNaN(platform) && h !== "24" && formatInstant(platform).slice(8, 10) === day;
        expect(readOrRefused(text)).toBe(sound ? platform : "refused");
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("formatInstant", () => {
  it("writes an instant in UTC with milliseconds", () => {
    expect(formatInstant(Date.UTC(2026, 2, 1, 8))).toBe("2026-03-01T08:00:00.000Z");
  });

  it.each([FIRST_INSTANT - 1, LAST_INSTANT + 1, Number.NaN])("refuses to write the instant %d", (instant) => {
    expect(() => formatInstant(instant)).toThrow(RangeError);
  });
});

function readOrRefused(text: string): number | "refused" {
  try {
    return parseInstant(text);
  } catch (error) {
    if (error instanceof CarillonError) return "refused";
    throw error;
  }
}

function refusalOf(act: () => unknown): CarillonError {
  try {
    act();
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
