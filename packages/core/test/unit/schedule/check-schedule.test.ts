import { describe, expect, it } from "vitest";
import { checkSchedule, requireSchedule } from "../../../src/schedule/check-schedule.js";
import type { CronSchedule, EverySchedule, ScheduleSpec } from "../../../src/schedule/spec.js";

const cron = (more: Partial<CronSchedule> = {}): CronSchedule => ({
  kind: "cron",
  cron: "0 9 * * *",
  timeZone: "UTC",
  ...more,
});
const every = (more: Partial<EverySchedule> = {}): EverySchedule => ({
  kind: "every",
  everyMs: 60_000,
  anchor: 0,
  ...more,
});
const problems = (spec: ScheduleSpec) =>
  checkSchedule(spec).map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);

describe("the check of a schedule", () => {
  it.each<ScheduleSpec>([
    cron(),
    cron({ jitterMs: 3_600_000, startsAt: 5, endsAt: 5, maxRuns: 1, calendars: { exclude: ["a"], roll: "next" } }),
    every({ jitterMs: 59_999, timeZone: "Europe/Paris" }),
    { kind: "at", at: 1_000 },
    { kind: "manual" },
    {
      kind: "after",
      after: [
        { job: "a", on: "success" },
        { job: "a", on: "failure" },
      ],
    },
  ])("accepts the schedule %j", (spec) => {
    expect(problems(spec)).toEqual([]);
  });

  it.each<[string, ScheduleSpec, string]>([
    ["a wrong expression", cron({ cron: "60 * * * *" }), "/cron cron_invalid: "],
    ["an expression that never fires", cron({ cron: "0 0 30 2 *" }), "/cron cron_never_fires: "],
    ["an unknown zone", cron({ timeZone: "Europe/Bonn" }), "/time_zone time_zone_unknown: "],
    ["an unknown zone of an interval", every({ timeZone: "+02:00" }), "/time_zone time_zone_unknown: "],
    [
      "an interval below a second",
      every({ everyMs: 999 }),
      "/every schedule_invalid: Field every must be at least one second",
    ],
    ["half a millisecond", every({ everyMs: 1_000.5 }), "/every schedule_invalid: "],
    ["an anchor that is no instant", every({ anchor: Number.NaN }), "/starts_at schedule_invalid: "],
    ["a negative jitter", every({ jitterMs: -1 }), "/jitter schedule_invalid: Field jitter must be a duration"],
    [
      "a jitter as long as the interval",
      every({ jitterMs: 60_000 }),
      "/jitter schedule_invalid: A jitter of 60000 ms is as long as",
    ],
    [
      "a jitter as long as the smallest cron interval",
      cron({ cron: "0 9,10 * * *", jitterMs: 3_600_000 }),
      "/jitter schedule_invalid: ",
    ],
    [
      "an end before the start",
      cron({ startsAt: 10, endsAt: 9 }),
      "/ends_at schedule_invalid: The schedule ends before it starts",
    ],
    ["a start that is no instant", cron({ startsAt: Infinity }), "/starts_at schedule_invalid: "],
    ["no runs", cron({ maxRuns: 0 }), "/max_runs schedule_invalid: "],
    [
      "calendars without names",
      cron({ calendars: {} }),
      "/calendars schedule_invalid: Field calendars names no calendar",
    ],
    [
      "a roll without calendars",
      cron({ calendars: { roll: "next" } }),
      '/calendars schedule_invalid: Roll "next" has no calendar',
    ],
    [
      "one calendar on both sides",
      cron({ calendars: { exclude: ["b", "a"], only: ["a"] } }),
      '/calendars/exclude/1 schedule_invalid: Calendar "a" is in exclude and in only',
    ],
    ["an instant that is none", { kind: "at", at: Number.NaN }, "/at schedule_invalid: "],
    ["no upstream job", { kind: "after", after: [] }, "/after schedule_invalid: "],
    [
      "an upstream job without a name",
      { kind: "after", after: [{ job: "", on: "finish" }] },
      "/after/0/job schedule_invalid: ",
    ],
    [
      "an upstream job listed twice",
      {
        kind: "after",
        after: [
          { job: "a", on: "finish" },
          { job: "a", on: "finish" },
        ],
      },
      "/after/1 schedule_invalid: ",
    ],
  ])("refuses a schedule with %s", (_, spec, start) => {
    const found = problems(spec);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(start);
  });

  it("reports all problems of a schedule at once, and throws the code of a single one", () => {
    const spec = cron({ cron: "x * * * *", timeZone: "Nowhere", maxRuns: -1 });
    expect(checkSchedule(spec).map((item) => item.pointer)).toEqual(["/cron", "/time_zone", "/max_runs"]);
    expect(() => requireSchedule(spec)).toThrow(
      expect.objectContaining({ code: "schedule_invalid", items: checkSchedule(spec) }),
    );
    expect(() => requireSchedule(cron({ timeZone: "Nowhere" }))).toThrow(
      expect.objectContaining({ code: "time_zone_unknown" }),
    );
  });
});
