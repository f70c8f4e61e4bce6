import { compileCalendar, compileSchedule, readCalendar, type ScheduleSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { calendarNotes } from "../../../src/scheduler/calendar-notes.js";

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

describe("what calendars took from a schedule", () => {
  it("is one range between two occurrences", () => {
    const schedule = closedOn("2026-05-01");
    const step = { spec, schedule, settledTo: midnight - hour, nominal: midnight + 24 * hour, next: null };
    expect(calendarNotes({ ...step, through: step.nominal })).toEqual([
      { reason: "calendar", from: midnight, to: midnight + 23 * hour, count: 24, detail: "office" },
    ]);
  });

  it("leaves out the occurrence that the step settles, though a newer version of the calendar took it [INV-11]", () => {
    const schedule = closedOn("2026-05-01");
    const nominal = midnight + 2 * hour;
    const next = { nominal: midnight + 24 * hour, fireAt: midnight + 24 * hour };
    expect(calendarNotes({ spec, schedule, settledTo: nominal - hour, nominal, through: nominal, next })).toEqual([]);
    const step = { spec, schedule, settledTo: nominal - 2 * hour, nominal, through: next.nominal, next: null };
    expect(calendarNotes(step).map(({ from, to, count }) => [from, to, count])).toEqual([
      [nominal - hour, nominal - hour, 1],
      [nominal + hour, midnight + 23 * hour, 21],
    ]);
  });
});
