import { CarillonError, formatDuration, maxDurationMs, parseDuration } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30 * second],
    ["15m", 15 * minute],
    ["1h30m", 90 * minute],
    ["7d", 7 * day],
    ["2w", 14 * day],
    ["1w1d1h1m1s1ms", 8 * day + hour + minute + second + 1],
    ["90m", 90 * minute],
    ["007s", 7 * second],
    ["0s", 0],
    ["36525d", maxDurationMs],
    ["PT1H30M", 90 * minute],
    ["P1D", day],
    ["P2W", 14 * day],
    ["P1DT12H", 36 * hour],
    ["PT0.5S", 500],
    ["PT1,25S", 1_250],
    ["PT0S", 0],
  ])("reads the duration %s", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    ["", "is empty"],
    ["30", "has no unit"],
    ["-5m", "has a sign"],
    ["+5m", "has a sign"],
    ["PT-5M", "has a sign"],
    ["1h-5m", "has a sign"],
    ["1mo", "counts months or years"],
    ["2months", "counts months or years"],
    ["1y", "counts months or years"],
    ["P1M", "counts months or years"],
    ["P1Y2D", "counts months or years"],
    ["P1Y2M3DT4H", "counts months or years"],
    ["1h 30m", "has a blank"],
    [" 1h", "has a blank"],
    ["1.5h", "has a fraction"],
    ["PT1.5H", "has a fraction"],
    ["PT0.1234S", "has a fraction"],
    ["7D", "has a capital letter"],
    ["30m1h", "cannot be parsed"],
    ["1h1h", "cannot be parsed"],
    ["h", "cannot be parsed"],
    ["1hour", "cannot be parsed"],
    ["P", "cannot be parsed"],
    ["PT", "cannot be parsed"],
    ["P1DT", "cannot be parsed"],
    ["pt1h", "cannot be parsed"],
    ["１h", "cannot be parsed"],
    ["1e3s", "cannot be parsed"],
    ["0x10s", "cannot be parsed"],
    ["36525d1ms", "is longer than 36525d"],
    ["99999999999999999999d", "is longer than 36525d"],
    [`${"9".repeat(100)}s`, "has more than 64 characters"],
  ])("refuses the duration %j, which %s", (text, problem) => {
    const error = refusalOf(text);
    expect(error.code).toBe("duration_invalid");
    expect(error.message).toContain(problem);
    expect(error.message).toMatch(/; write it as 1h30m, 500ms or 7d .* or as PT1H30M\.$/);
  });

  it("reads back any duration that formatDuration wrote", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxDurationMs }), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });

  it("reads or refuses any text", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^P?T?[0-9WDHMSYms.,+-]*$/));
    fc.assert(
      fc.property(texts, (text) => {
        const durationMs = readOrRefused(text);
        expect(durationMs === "refused" || isDuration(durationMs)).toBe(true);
      }),
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0s"],
    [1, "1ms"],
    [1_500, "1s500ms"],
    [90 * minute, "1h30m"],
    [14 * day, "14d"],
    [day + 1, "1d1ms"],
  ])("writes %d ms in the shortest form", (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses to write the duration %d", (durationMs) => {
    expect(() => formatDuration(durationMs)).toThrow(RangeError);
  });
});

function readOrRefused(text: string): number | "refused" {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof CarillonError) return "refused";
    throw error;
  }
}

function isDuration(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= maxDurationMs;
}

function refusalOf(text: string): CarillonError {
  try {
    parseDuration(text);
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
