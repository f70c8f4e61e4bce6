import { compileCalendar, compileSchedule, readCalendar, type ScheduleSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { calendarNotes } from "../../../src/schedules/schedule-calendars.js";

const hour = 3_600_000;
const midnight = Date.UTC(2026, 4, 1);
const spec: ScheduleSpec = {
  kind: "cron",
  cron: "0 * * * *",
  timeZone: "UTC",
  calendars: { exclude: ["office"] },
};
const closedOn = (...dates: string[]) => {
  const calendars = new Map([["office", compileCalendar(readCalendar({ name: "office", rules: [{ dates }] }))]]);
  return compileSchedule(spec, { jobId: "01a1e04f-1f34-7492-b8bd-1963de03fa5e", calendars });
};

describe("removed occurrences", () => {
  it("the occurrences that calendars removed between two occurrences are one range", () => {
    const schedule = closedOn("2026-05-01");
    const step = { spec, schedule, settledTo: midnight - hour, nominal: midnight + 24 * hour, isLast: true };
    expect(calendarNotes({ ...step, through: step.nominal })).toEqual([
      { reason: "calendar", from: midnight, to: midnight + 23 * hour, count: 24, detail: "office" },
    ]);
  });

  it("the occurrence that a step decides is not noted as removed, although a newer version of the calendar removes it [INV-11]", () => {
    const schedule = closedOn("2026-05-01");
    const nominal = midnight + 2 * hour;
    const one = { spec, schedule, nominal, through: nominal, isLast: false };
    expect(calendarNotes({ ...one, settledTo: nominal - hour })).toEqual([]);
    const step = { ...one, settledTo: nominal - 2 * hour, through: midnight + 24 * hour, isLast: true };
    expect(calendarNotes(step).map(({ from, to, count }) => [from, to, count])).toEqual([
      [nominal - hour, nominal - hour, 1],
      [nominal + hour, midnight + 23 * hour, 21],
    ]);
  });
});

describe("merged occurrences", () => {
  const week: ScheduleSpec = {
    kind: "cron",
    cron: "0 * * * *",
    timeZone: "UTC",
    calendars: { exclude: ["weekend"], roll: "next" },
  };
  const weekend = compileCalendar(readCalendar({ name: "weekend", rules: [{ weekdays: ["sat", "sun"] }] }));
  const schedule = compileSchedule(week, {
    jobId: "01a1e04f-1f34-7492-b8bd-1963de03fa5e",
    calendars: new Map([["weekend", weekend]]),
  });
  const monday = Date.UTC(2026, 4, 4);
  const step = { spec: week, schedule, settledTo: monday - 1, nominal: monday, isLast: false };

  it("a few merged occurrences get one entry each", () => {
    const merged = calendarNotes({ ...step, through: monday });
    expect(merged).toEqual(
      [monday - 48 * hour, monday - 24 * hour].map((at) => ({
        reason: "merged",
        from: at,
        to: at,
        count: 1,
        detail: "weekend",
      })),
    );
  });

  it("the merged occurrences of months are counted completely, in one entry [INV-11]", () => {
    const through = monday + 60 * 24 * hour;
    const last = monday + 8 * 7 * 24 * hour - hour;
    expect(calendarNotes({ ...step, through })).toEqual([
      { reason: "merged", from: monday - 48 * hour, to: last, count: 9 * 48, detail: "weekend" },
    ]);
  });
});
