import { describe, expect, it } from "vitest";
import { compileCron, type CronOptions } from "../../../src/index.js";
import { iso, nextFires } from "./walk.js";

/** Fires with their notes: `instant`, `instant gap wall-time` or `instant pass`. */
function annotated(
  expression: string,
  timeZone: string,
  from: string,
  count: number,
  dst?: CronOptions["dst"],
): string[] {
  const cron = compileCron(expression, { timeZone, ...(dst === undefined ? {} : { dst }) });
  return nextFires(cron, Date.parse(from), count).map((fire) => {
    const note = cron.noteAt(fire);
    const at = iso(fire).slice(0, 16);
    if (note === null) return at;
    return note.kind === "gap" ? `${at} gap ${note.wallTime}` : `${at} ${note.pass}`;
  });
}

describe("fixed-time expressions", () => {
  it("fixed-time expressions fire once after a gap of an hour, with a note of the first skipped time", () => {
    expect(annotated("0,30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2)).toEqual([
      "2026-03-08T07:00 gap 2026-03-08T02:00:00",
      "2026-03-09T06:00",
    ]);
  });

  it("fixed-time expressions fire once if a skipped time coincides with another fire", () => {
    expect(annotated("0 2,3 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2)).toEqual([
      "2026-03-08T07:00 gap 2026-03-08T02:00:00",
      "2026-03-09T06:00",
    ]);
  });

  it("fixed-time expressions fire after a gap also for a search from its last millisecond before", () => {
    const cron = compileCron("30 2 * * *", { timeZone: "America/New_York" });
    const change = Date.parse("2026-03-08T07:00:00Z");
    expect(cron.next(change - 1)).toBe(change);
    expect(cron.next(change - 0.5)).toBe(change);
    expect(cron.next(change)).toBe(Date.parse("2026-03-09T06:30:00Z"));
    expect(cron.previous(change + 1)).toBe(change);
    expect(cron.previous(change)).toBe(Date.parse("2026-03-07T07:30:00Z"));
  });

  it("fixed-time expressions fire in the first pass of an overlap, for searches from any instant", () => {
    const cron = compileCron("30 1 * * *", { timeZone: "America/New_York" });
    const monday = Date.parse("2026-11-02T06:30:00Z");
    for (const from of ["05:30:00", "05:59:59", "06:00:00", "06:15:00", "06:30:00"]) {
      expect(cron.next(Date.parse(`2026-11-01T${from}Z`))).toBe(monday);
    }
    expect(cron.previous(Date.parse("2026-11-01T06:45:00Z"))).toBe(Date.parse("2026-11-01T05:30:00Z"));
  });

  it("fixed-time expressions fire on the intended date if a gap skips midnight", () => {
    expect(annotated("0 0 6 9 *", "America/Santiago", "2026-01-01T00:00:00Z", 2)).toEqual([
      "2026-09-06T04:00 gap 2026-09-06T00:00:00",
      "2027-09-06T03:00",
    ]);
    expect(annotated("15 0 * * SUN", "America/Havana", "2026-03-02T12:00:00Z", 2)).toEqual([
      "2026-03-08T05:00 gap 2026-03-08T00:15:00",
      "2026-03-15T04:15",
    ]);
  });

  it("fixed-time expressions fire once for a whole day that a zone skipped", () => {
    expect(annotated("0 6,18 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00Z", 2)).toEqual([
      "2011-12-30T10:00 gap 2011-12-30T06:00:00",
      "2012-12-29T16:00",
    ]);
  });

  it("fixed-time expressions fire after a gap of half an hour", () => {
    expect(annotated("0,15,45 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 3)).toEqual([
      "2026-10-03T15:30 gap 2026-10-04T02:00:00",
      "2026-10-03T15:45",
      "2026-10-04T15:00",
    ]);
  });

  it("fixed-time expressions fire twice, late or not at all according to the dst policy", () => {
    const from = "2026-10-31T12:00:00Z";
    expect(annotated("30 1 * * *", "America/New_York", from, 2, { overlap: "both" })).toEqual([
      "2026-11-01T05:30 first",
      "2026-11-01T06:30 second",
    ]);
    expect(annotated("30 1 * * *", "America/New_York", from, 1, { overlap: "second" })).toEqual([
      "2026-11-01T06:30 second",
    ]);
    expect(annotated("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 1, { gap: "skip" })).toEqual([
      "2026-03-09T06:30",
    ]);
  });
});

describe("wildcard expressions", () => {
  it("wildcard expressions add no fire for a gap", () => {
    expect(annotated("*/20 2,3 * * *", "America/New_York", "2026-03-07T12:00:00Z", 4)).toEqual([
      "2026-03-08T07:00",
      "2026-03-08T07:20",
      "2026-03-08T07:40",
      "2026-03-09T06:00",
    ]);
  });

  it("wildcard expressions fire in both passes of an overlap, with notes", () => {
    expect(annotated("0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", 3)).toEqual([
      "2026-11-01T05:00 first",
      "2026-11-01T06:00 second",
      "2026-11-01T07:00",
    ]);
  });

  it("wildcard expressions have a * or a step over it in seconds, minutes or hours, also in a list", () => {
    const swallowed = (expression: string) =>
      annotated(expression, "America/New_York", "2026-03-08T05:59:59Z", 1)[0]?.includes("gap");
    for (const wildcard of ["*/30 2 * * *", "5,*/30 2 * * *", "* 2 * * *", "*/30 0 2 * * *", "* 30 2 * * *"]) {
      expect([wildcard, swallowed(wildcard)]).toEqual([wildcard, false]);
    }
    for (const fixed of ["0/30 2 * * *", "0-59/5 2 * * *", "0 2 */1 * *", "0 0 2 * */1 ?", "0 2 * 3/3 *"]) {
      expect([fixed, swallowed(fixed)]).toEqual([fixed, true]);
    }
  });

  it("wildcard expressions skip the second pass or fire after a gap according to the dst policy", () => {
    const dst = { gap: "after", overlap: "first" } as const;
    expect(annotated("*/30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2, dst)).toEqual([
      "2026-03-08T07:00 gap 2026-03-08T02:00:00",
      "2026-03-09T06:00",
    ]);
    expect(annotated("0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", 2, dst)).toEqual([
      "2026-11-01T05:00 first",
      "2026-11-01T07:00",
    ]);
  });
});

it("an instant without a fire has no note", () => {
  const cron = compileCron("30 2 * * *", { timeZone: "America/New_York", dst: { gap: "skip" } });
  expect(cron.noteAt(Date.parse("2026-03-08T07:00:00Z"))).toBeNull();
  expect(cron.noteAt(Date.parse("2026-11-01T06:15:00Z"))).toBeNull();
  expect(cron.noteAt(Date.parse("2026-03-09T06:30:00.001Z"))).toBeNull();
});
