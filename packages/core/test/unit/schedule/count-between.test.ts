import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import { compileCron } from "../../../src/cron/compile.js";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CompiledSchedule } from "../../../src/schedule/compiled.js";
import type { CronSchedule, Roll, ScheduleSpec } from "../../../src/schedule/spec.js";

const weekend = compileCalendar(readCalendar({ name: "weekend", rules: [{ weekdays: ["SAT", "SUN"] }] }));
const calendars = new Map([["weekend", weekend]]);
const at = (text: string) => Date.parse(text);

function compile(spec: ScheduleSpec): CompiledSchedule {
  return compileSchedule(spec, { jobId: "job", calendars });
}

function berlin(cron: string, more: Partial<CronSchedule> = {}): CompiledSchedule {
  return compile({ kind: "cron", cron, timeZone: "Europe/Berlin", ...more });
}

function rolled(cron: string, roll: Roll, more: Partial<CronSchedule> = {}): CompiledSchedule {
  return berlin(cron, { ...more, calendars: { exclude: ["weekend"], roll } });
}

/** All of 2026 in Berlin: both ends lie outside it. */
const NEW_YEAR = at("2026-01-01T00:00:00+01:00");
const YEAR = [NEW_YEAR - 1, at("2027-01-01T00:00:00+01:00")] as const;
const YEAR_SECONDS = 365 * 86_400;

describe("countBetween", () => {
  it("counts each second of a year in a few steps, not in thirty million", () => {
    expect(berlin("* * * * * *").countBetween(...YEAR)).toBe(YEAR_SECONDS);
    const cron = compileCron("* * * * * *", { timeZone: "Europe/Berlin" });
    expect(cron.countBetween(...YEAR)).toBe(YEAR_SECONDS);
    expect(cron.steps).toBeLessThan(100);
  });

  it("counts an interval by division, from its anchor on", () => {
    const every = compile({ kind: "every", everyMs: 1_000, anchor: NEW_YEAR });
    expect(every.countBetween(...YEAR)).toBe(YEAR_SECONDS);
    expect(every.countBetween(0, NEW_YEAR + 1)).toBe(1);
    expect(every.countBetween(0, NEW_YEAR)).toBe(0);
    expect(every.countBetween(NEW_YEAR, NEW_YEAR + 2_000)).toBe(1);
  });

  it("excludes both ends of the span, to the fraction of a millisecond", () => {
    const daily = berlin("0 0 * * *");
    const next = at("2026-01-02T00:00:00+01:00");
    expect(daily.countBetween(NEW_YEAR, next)).toBe(0);
    expect(daily.countBetween(NEW_YEAR - 0.5, next)).toBe(1);
    expect(daily.countBetween(NEW_YEAR - 0.5, next + 0.5)).toBe(2);
    expect(daily.countBetween(next, NEW_YEAR)).toBe(0);
  });

  it("counts a single instant once, and nothing for a schedule without times", () => {
    const once = compile({ kind: "at", at: NEW_YEAR });
    expect([once.countBetween(...YEAR), once.countBetween(NEW_YEAR, Infinity)]).toEqual([1, 0]);
    expect(compile({ kind: "manual" }).countBetween(-Infinity, Infinity)).toBe(0);
  });

  it("counts the fires of a fixed time at a clock change by the dst policy", () => {
    const count = (dst: CronSchedule["dst"] & object) => berlin("30 2 * * *", { dst }).countBetween(...YEAR);
    expect(count({ gap: "after", overlap: "first" })).toBe(365);
    expect(count({ gap: "skip", overlap: "second" })).toBe(364);
    expect(count({ gap: "after", overlap: "both" })).toBe(366);
  });

  it("counts a fire that a gap moves onto another once", () => {
    expect(berlin("30 2 * * *").countBetween(...YEAR)).toBe(365);
    expect(berlin("30 2,3 * * *").countBetween(...YEAR)).toBe(730);
    expect(berlin("0 2,3 * * *").countBetween(...YEAR)).toBe(729);
  });

  it("counts within starts_at and ends_at, both included", () => {
    const startsAt = at("2026-06-01T00:00:00+02:00");
    const endsAt = at("2026-06-03T00:00:00+02:00");
    expect(berlin("0 0 * * *", { startsAt, endsAt }).countBetween(...YEAR)).toBe(3);
  });

  it("counts up to the year 9999", () => {
    const yearly = compile({ kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" });
    expect(yearly.countBetween(at("9989-06-01T00:00:00Z"), Infinity)).toBe(10);
  });

  it("counts open days only, and merged fires once", () => {
    expect(rolled("0 9 * * *", "skip").countBetween(...YEAR)).toBe(261);
    expect(rolled("0 9 * * *", "next").countBetween(...YEAR)).toBe(261);
    expect(rolled("0 9 * * SAT", "next").countBetween(...YEAR)).toBe(52);
    expect(rolled("0 9 * * SAT,SUN", "next").countBetween(...YEAR)).toBe(52);
    expect(rolled("* * * * * *", "previous").countBetween(...YEAR)).toBe(261 * 86_400);
  });
});

describe("removedRange", () => {
  const friday = at("2026-03-27T23:59:59+01:00");
  const monday = at("2026-03-30T00:00:00+02:00");

  it("reports the first, the last and the number of the fires that calendars remove between two fires", () => {
    const seconds = rolled("* * * * * *", "skip");
    expect(seconds.nextNominal(friday)).toBe(monday);
    const note = (reason: string) => [{ kind: "excluded", calendar: "weekend", reason }];
    expect(seconds.removedRange(friday, monday)).toEqual({
      first: { at: friday + 1_000, notes: note("Saturday") },
      last: { at: monday - 1_000, notes: note("Sunday") },
      count: 47 * 3_600,
    });
  });

  it("the removed range is null if no fire is removed", () => {
    expect(rolled("* * * * * *", "skip").removedRange(friday - 1_000, friday)).toBeNull();
    expect(rolled("0 9 * * *", "next").removedRange(...YEAR)).toBeNull();
    expect(berlin("0 9 * * *").removedRange(...YEAR)).toBeNull();
  });

  it("the removed range includes fires that a roll loses to a gap and to the end of the schedule", () => {
    const sunday = at("2026-03-29T00:00:00+01:00");
    const gaps = compile({
      kind: "cron",
      cron: "30 2 * * *",
      timeZone: "Europe/Berlin",
      dst: { gap: "skip" },
      calendars: { only: ["weekend"], roll: "previous" },
    });
    expect(gaps.removedRange(sunday, sunday + 5 * 86_400_000)?.count).toBe(4);
    const endsAt = at("2026-03-30T08:00:00+02:00");
    const ends = rolled("0 7,9 * * *", "next", { endsAt }).removedRange(...YEAR);
    expect([ends?.first.at, ends?.last.at, ends?.count]).toEqual([
      at("2026-03-28T09:00:00+01:00"),
      at("2026-03-29T09:00:00+02:00"),
      2,
    ]);
  });
});

describe("mergedAt", () => {
  it("mergedAt lists the fires that a roll moved onto another, without the one that remains", () => {
    const monday = at("2026-06-08T09:00:00+02:00");
    const saturday = at("2026-06-06T09:00:00+02:00");
    const sunday = at("2026-06-07T09:00:00+02:00");
    const merged = (one: number) => ({ at: one, calendar: "weekend" });
    expect(rolled("0 9 * * *", "next").mergedAt(monday)).toEqual([merged(saturday), merged(sunday)]);
    expect(rolled("0 9 * * SAT,SUN", "next").mergedAt(monday)).toEqual([merged(sunday)]);
    expect(rolled("0 9 * * *", "next").mergedAt(monday + 86_400_000)).toEqual([]);
    expect(rolled("0 9 * * *", "skip").mergedAt(monday)).toEqual([]);
    expect(berlin("0 9 * * *").mergedAt(monday)).toEqual([]);
  });
});

describe("mergedBetween", () => {
  it("mergedBetween lists the same fires as mergedAt of each instant, across a clock change too", () => {
    for (const roll of ["next", "previous", "modified_following"] as const) {
      const schedule = rolled("0 */6 * * *", roll);
      const [from, to] = [at("2026-03-20T06:00:00+01:00"), at("2026-04-20T06:00:00+02:00")];
      const each: unknown[] = [];
      for (let one = schedule.nextNominal(from - 1); one <= to; one = schedule.nextNominal(one)) {
        each.push(...schedule.mergedAt(one));
      }
      expect(each.length).toBeGreaterThan(20);
      expect(schedule.mergedBetween(from, to, 1_000)).toEqual(each);
    }
  });

  it("mergedBetween reads no more instants than its limit", () => {
    const monday = at("2026-06-08T00:00:00+02:00");
    expect(rolled("0 * * * *", "next").mergedBetween(monday, monday + 30 * 86_400_000, 2)).toHaveLength(4);
    expect(rolled("0 * * * *", "skip").mergedBetween(monday, monday + 30 * 86_400_000, 2)).toEqual([]);
    expect(berlin("0 * * * *").mergedBetween(monday, monday + 30 * 86_400_000, 2)).toEqual([]);
  });
});
