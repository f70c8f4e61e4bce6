import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CompiledSchedule } from "../../../src/schedule/compiled.js";
import type { CalendarRule, EverySchedule, Roll, ScheduleSpec } from "../../../src/schedule/spec.js";

const NEVER = -1;
const instant = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) });
const calendars = new Map([
  [
    "office",
    compileCalendar(
      readCalendar({ name: "office", rules: [{ weekdays: ["SAT", "SUN"] }, { dates: ["12-24/01-01", "05-01"] }] }),
    ),
  ],
]);
const calendarRule = fc
  .constantFrom<Roll>("skip", "next", "previous", "modified_following")
  .map<CalendarRule>((roll) => ({ exclude: ["office"], roll }));
const zone = fc.constantFrom("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Santiago");

const every = fc
  .record({ everyMs: fc.integer({ min: 1_000, max: 90 * 86_400_000 }), anchor: instant, timeZone: zone })
  .map<EverySchedule>((fields) => ({ kind: "every", ...fields }));
const cron = fc
  .record({
    cron: fc.constantFrom(
      "0 9 * * *",
      "*/20 * * * *",
      "30 2 L * *",
      "0 12 * * MON#1,FRI",
      "15 0,23 1-7 * *",
      "0 0 29 2 *",
    ),
    timeZone: zone,
  })
  .map<ScheduleSpec>((fields) => ({ kind: "cron", ...fields }));
const spec = fc
  .tuple(
    fc.oneof(every, cron),
    fc.option(calendarRule, { nil: undefined }),
    fc.option(fc.tuple(instant, instant), { nil: undefined }),
  )
  .map(([base, rule, bounds]) => ({
    ...base,
    ...(rule === undefined ? {} : { calendars: rule }),
    ...(bounds === undefined ? {} : { startsAt: Math.min(...bounds), endsAt: Math.max(...bounds) }),
  }));

/** The laws that a schedule breaks for searches from an instant. */
function brokenLaws(schedule: CompiledSchedule, from: number): string[] {
  const broken: string[] = [];
  const next = schedule.nextNominal(from);
  const previous = schedule.previousNominal(from);
  if (next !== NEVER) {
    const back = schedule.previousNominal(next);
    if (!(next > from) || !Number.isInteger(next)) broken.push("next is strictly later, in whole milliseconds");
    if (back !== NEVER && back > from) broken.push("nothing lies between from and next");
    if (back !== NEVER && schedule.nextNominal(back) !== next) broken.push("next undoes previous");
    if (schedule.nextNominal(next - 1) !== next) broken.push("next is found from just before it");
    if (schedule.nextNominal((from + next) / 2) !== next) broken.push("next is found from half way");
  }
  if (previous !== NEVER) {
    const onward = schedule.nextNominal(previous);
    if (!(previous < from) || !Number.isInteger(previous)) broken.push("previous is strictly earlier");
    if (onward !== NEVER && onward < from) broken.push("nothing lies between previous and from");
    if (onward !== NEVER && schedule.previousNominal(onward) !== previous) broken.push("previous undoes next");
  }
  return broken;
}

describe("every schedule", () => {
  it("every schedule is strictly increasing and the same from any instant, and previous is the inverse of next", () => {
    let asked = 0;
    fc.assert(
      fc.property(spec, instant, fc.double({ min: 0, max: 0.999, noNaN: true }), (one, whole, fraction) => {
        const schedule = compileSchedule(one, { jobId: "job", calendars });
        if (schedule.nextNominal(whole) !== NEVER) asked += 1;
        expect(brokenLaws(schedule, whole + fraction)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(asked).toBeGreaterThan(300);
  });

  it("a schedule that starts later than a search through closed days reaches keeps the laws", () => {
    const anchor = Date.UTC(2051, 9, 29, 0, 0, 1);
    for (const roll of ["skip", "next", "previous", "modified_following"] as const) {
      const calendar = { exclude: ["office"], roll };
      const late = { kind: "every", everyMs: 1_000, anchor, timeZone: "UTC", calendars: calendar } as const;
      expect(brokenLaws(compileSchedule(late, { jobId: "job", calendars }), Date.UTC(2000, 0, 1))).toEqual([]);
    }
  });

  it("every schedule stays within its bounds and below its jitter, the same for every compilation", () => {
    fc.assert(
      fc.property(spec, instant, fc.integer({ min: 1, max: 999 }), (one, from, jitterMs) => {
        const jittered = { ...one, jitterMs };
        const schedule = compileSchedule(jittered, { jobId: "job", calendars });
        const fires = schedule.between(from, Date.UTC(2061, 0, 1), 5);
        const { startsAt = 0, endsAt = Infinity } = { startsAt: undefined, endsAt: undefined, ...one };
        expect(fires.filter(({ nominal }) => nominal < startsAt || nominal > endsAt || nominal <= from)).toEqual([]);
        expect(fires.filter(({ nominal, fireAt }) => fireAt < nominal || fireAt >= nominal + jitterMs)).toEqual([]);
        const again = compileSchedule(structuredClone(jittered), { jobId: "job", calendars });
        expect(again.between(from, Date.UTC(2061, 0, 1), 5)).toEqual(fires);
      }),
      { numRuns: 200 },
    );
  });
});
