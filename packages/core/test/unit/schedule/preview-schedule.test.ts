import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import type { HolidaySource } from "../../../src/calendar/definition.js";
import { previewSchedule } from "../../../src/schedule/preview-schedule.js";
import type { CronSchedule, ScheduleSpec } from "../../../src/schedule/spec.js";
import { epochDayOf } from "../../../src/zone/civil.js";

const at = (text: string) => Date.parse(text);
const NOW = at("2026-11-15T12:00Z");
const calendarOf = (name: string, rules: unknown) => [name, compileCalendar(readCalendar({ name, rules }))] as const;
const calendars = new Map([
  calendarOf("weekends", [{ weekdays: ["SAT", "SUN"] }]),
  calendarOf("sundays", [{ weekdays: ["SUN"] }]),
]);
const cron = (expression: string, more: Partial<CronSchedule> = {}): CronSchedule => ({
  kind: "cron",
  cron: expression,
  timeZone: "Europe/Paris",
  ...more,
});
const preview = (spec: ScheduleSpec, count = 3) =>
  previewSchedule(spec, { jobId: "job", calendars }, { from: NOW, count });
const warnings = (spec: ScheduleSpec) => preview(spec).warnings.map(({ code }) => code);

describe("a preview", () => {
  it("a preview shows the fires in the zone of the schedule, with excluded ones between them", () => {
    const { fires, description } = preview(
      cron("15 9 * * FRI,SAT,SUN,MON", { calendars: { exclude: ["sundays"] } }),
      4,
    );
    expect(fires.map(({ outcome, wallTime }) => `${outcome} ${wallTime}`)).toEqual([
      "fires 2026-11-16T09:15:00+01:00",
      "fires 2026-11-20T09:15:00+01:00",
      "fires 2026-11-21T09:15:00+01:00",
      "excluded 2026-11-22T09:15:00+01:00",
      "fires 2026-11-23T09:15:00+01:00",
    ]);
    expect(fires[3]?.notes).toEqual([{ kind: "excluded", calendar: "sundays", reason: "Sunday" }]);
    expect(description).toBe(
      "At 09:15 on Friday, Saturday, Sunday and Monday, Europe/Paris, except on days of sundays",
    );
  });

  it("a preview shows excluded fires if nothing fires", () => {
    const { fires } = preview(cron("15 9 * * SUN", { calendars: { exclude: ["sundays"] } }));
    expect(fires.map(({ outcome }) => outcome)).toEqual(["excluded", "excluded", "excluded"]);
  });

  it("the preview of a manual schedule is empty, without warnings", () => {
    expect(preview({ kind: "manual" })).toEqual({ description: "Only when asked", fires: [], warnings: [] });
  });
});

describe("warnings", () => {
  it("gives no warnings for an ordinary schedule", () => {
    expect(warnings(cron("15 9 * * *"))).toEqual([]);
    expect(warnings({ kind: "every", everyMs: 60_000, anchor: 0 })).toEqual([]);
    expect(warnings(cron("*/15 * * * *"))).toEqual([]);
  });

  it("warns of the dates in the coming year on which a clock change affects a fire", () => {
    expect(preview(cron("30 2 * * *")).warnings).toEqual([
      {
        code: "clock_change",
        at: at("2027-03-28T01:00Z"),
        message:
          "On 2027-03-28 the clock in Europe/Paris skips 02:00 to 03:00: the fire at 02:30 happens right after, at 03:00.",
      },
      {
        code: "clock_change",
        at: at("2027-10-31T01:00Z"),
        message:
          "On 2027-10-31 the clock in Europe/Paris repeats 02:00 to 03:00: the fire at 02:30 happens the first time.",
      },
    ]);
    const messages = preview(cron("30 2 * * *", { dst: { gap: "skip", overlap: "both" } })).warnings.map(
      (one) => one.message,
    );
    expect(messages).toEqual([expect.stringContaining("does not happen"), expect.stringContaining("happens twice")]);
  });

  it("warns of shown years for which a calendar of the schedule lacks the public holidays", () => {
    const holidays: HolidaySource = {
      problemWith: () => null,
      knownYears: () => ({ from: 2024, to: 2030, remedy: "install more" }),
      holidays: (_, year) =>
        year > 2030 ? [] : [{ day: epochDayOf(year, 5, 1), name: "Bell Day", englishName: "Bell Day", type: "public" }],
    };
    const known = compileCalendar(readCalendar({ name: "xa", rules: [{ holidays: { country: "XA" } }] }), { holidays });
    const codes = (from: string, count: number): [string, number | undefined][] => {
      const spec = cron("15 9 1 5 *", { timeZone: "UTC", calendars: { exclude: ["xa"] } });
      const context = { jobId: "job", calendars: new Map([["xa", known]]) };
      return previewSchedule(spec, context, { from: at(from), count })
        .warnings.filter(({ code }) => code === "holidays_unknown")
        .map(({ message, at: since }) => [message, since]);
    };
    const message =
      'Calendar "xa" has public holidays from 2024 to 2030 only, and none in other years. Get those of all years, on each node, with: install more';
    // The holiday removes the fires of all known years, so the first fire is in 2031.
    expect(codes("2026-01-01T00:00Z", 1)).toEqual([[message, at("2031-01-01T00:00Z")]]);
    expect(codes("2020-01-01T00:00Z", 1)).toEqual([[message, at("2020-01-01T00:00Z")]]);
    expect(warnings(cron("15 9 * * *", { calendars: { exclude: ["sundays"] } }))).toEqual([]);
  });

  it("does not warn of clock changes on days that a calendar closes", () => {
    expect(warnings(cron("30 2 * * *", { calendars: { exclude: ["sundays"] } }))).toEqual([]);
  });

  it.each<[string, ScheduleSpec, string[]]>([
    ["both day fields", cron("15 9 13 * FRI"), ["both_day_fields"]],
    ["both day fields, answered", cron("15 9 13 * FRI", { dayMatch: "or" }), []],
    ["the full hour", cron("0 9 * * *"), ["on_the_hour"]],
    ["the full hour with jitter", cron("0 9 * * *", { jitterMs: 60_000 }), []],
    ["a jitter close to the interval", cron("15 * * * *", { jitterMs: 1_900_000 }), ["jitter_near_interval"]],
    ["an end in the past", cron("15 9 * * *", { endsAt: NOW - 1 }), ["ends_in_past"]],
    ["an instant in the past", { kind: "at", at: NOW }, ["ends_in_past"]],
    [
      "a calendar that removes everything",
      cron("15 9 * * SUN", { calendars: { exclude: ["sundays"] } }),
      ["calendar_removes_all"],
    ],
    ["bounds without a fire", cron("15 9 1 1 *", { startsAt: NOW, endsAt: NOW + 1 }), ["never_fires"]],
    ["a distant first fire", cron("15 9 29 2 MON", { dayMatch: "and" }), ["first_fire_far"]],
  ])("warns of %s", (_, spec, expected) => {
    expect(warnings(spec)).toEqual(expected);
  });
});
