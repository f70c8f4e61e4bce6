import { describe, expect, it } from "vitest";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CronSchedule, EverySchedule, ScheduleSpec } from "../../../src/schedule/spec.js";

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => (instant === -1 ? "never" : new Date(instant).toISOString());
const compile = (spec: ScheduleSpec) => compileSchedule(spec, { jobId: "job_1" });
const cron = (expression: string, more: Partial<CronSchedule> = {}): CronSchedule => ({
  kind: "cron",
  cron: expression,
  timeZone: "UTC",
  ...more,
});
const every = (everyMs: number, anchor: string, more: Partial<EverySchedule> = {}): EverySchedule => ({
  kind: "every",
  everyMs,
  anchor: at(anchor),
  ...more,
});

describe("a manual schedule and one after other jobs", () => {
  it.each<ScheduleSpec>([{ kind: "manual" }, { kind: "after", after: [{ job: "load", on: "success" }] }])(
    "never fire by time: %j",
    (spec) => {
      const schedule = compile(spec);
      expect(schedule.nextNominal(0)).toBe(-1);
      expect(schedule.previousNominal(at("2100-01-01"))).toBe(-1);
      expect(schedule.next(0)).toBeNull();
      expect(schedule.between(0, at("2100-01-01"), 10)).toEqual([]);
    },
  );
});

describe("a schedule for one instant", () => {
  it("a schedule for one instant fires at it, once", () => {
    const schedule = compile({ kind: "at", at: at("2026-05-01T09:00Z") });
    expect(schedule.next(at("2026-05-01T08:59:59.999Z"))).toEqual({
      nominal: at("2026-05-01T09:00Z"),
      fireAt: at("2026-05-01T09:00Z"),
      notes: [],
    });
    expect(schedule.next(at("2026-05-01T09:00Z"))).toBeNull();
    expect(schedule.previousNominal(at("2026-05-01T09:00Z"))).toBe(-1);
    expect(iso(schedule.previousNominal(at("2026-05-01T09:00Z") + 1))).toBe("2026-05-01T09:00:00.000Z");
  });
});

describe("an interval", () => {
  it("an interval counts elapsed time from its anchor, through clock changes, and fires at the anchor itself", () => {
    const schedule = compile(every(86_400_000, "2026-03-28T00:30Z", { timeZone: "Europe/Paris" }));
    expect(iso(schedule.nextNominal(0))).toBe("2026-03-28T00:30:00.000Z");
    expect(
      schedule.between(at("2026-03-28T00:30Z"), at("2026-04-01T00:00Z"), 10).map((fire) => iso(fire.nominal)),
    ).toEqual(["2026-03-29T00:30:00.000Z", "2026-03-30T00:30:00.000Z", "2026-03-31T00:30:00.000Z"]);
  });

  it("an interval does not fire before its anchor", () => {
    const schedule = compile(every(1_000, "2026-01-01T00:00Z"));
    expect(schedule.previousNominal(at("2026-01-01T00:00Z"))).toBe(-1);
    expect(iso(schedule.previousNominal(at("2026-01-01T00:00Z") + 1))).toBe("2026-01-01T00:00:00.000Z");
  });

  it("finds the next fire of an interval immediately for any age of the anchor", () => {
    const schedule = compile(every(1_000, "1970-01-01T00:00Z"));
    expect(iso(schedule.nextNominal(at("9999-12-31T23:59:58.500Z")))).toBe("9999-12-31T23:59:59.000Z");
  });
});

describe("bounds", () => {
  const bounded = compile(cron("0 * * * *", { startsAt: at("2026-05-01T09:00Z"), endsAt: at("2026-05-01T11:00Z") }));

  it("bounds include both of their instants", () => {
    expect(bounded.between(0, at("2100-01-01"), 10).map((fire) => iso(fire.nominal))).toEqual([
      "2026-05-01T09:00:00.000Z",
      "2026-05-01T10:00:00.000Z",
      "2026-05-01T11:00:00.000Z",
    ]);
    expect(bounded.next(at("2026-05-01T11:00Z"))).toBeNull();
    expect(iso(bounded.previousNominal(at("2030-01-01")))).toBe("2026-05-01T11:00:00.000Z");
    expect(bounded.previous(at("2026-05-01T09:00Z"))).toBeNull();
  });

  it("bounds do not shift the grid of an interval", () => {
    const schedule = compile(every(600_000, "2026-05-01T00:05Z", { startsAt: at("2026-05-01T09:00Z") }));
    expect(iso(schedule.nextNominal(0))).toBe("2026-05-01T09:05:00.000Z");
  });
});

describe("asking a schedule", () => {
  const hourly = compile(cron("0 * * * *"));

  it("next is strictly later and previous strictly earlier, also between milliseconds", () => {
    const noon = at("2026-05-01T12:00Z");
    expect(hourly.nextNominal(noon - 0.5)).toBe(noon);
    expect(hourly.nextNominal(noon)).toBe(noon + 3_600_000);
    expect(hourly.nextNominal(noon + 0.5)).toBe(noon + 3_600_000);
    expect(hourly.previousNominal(noon + 0.5)).toBe(noon);
    expect(hourly.previousNominal(noon)).toBe(noon - 3_600_000);
    expect(hourly.previousNominal(noon - 0.5)).toBe(noon - 3_600_000);
  });

  it("lists the fires of a range without its start, with its end, up to the limit", () => {
    const fires = hourly.between(at("2026-05-01T12:00Z"), at("2026-05-01T15:00Z"), 10);
    expect(fires.map((fire) => new Date(fire.nominal).getUTCHours())).toEqual([13, 14, 15]);
    expect(hourly.between(at("2026-05-01T12:00Z"), at("2026-05-01T15:00Z"), 2)).toHaveLength(2);
  });

  it("adds a note to a fire that a clock change affected", () => {
    const schedule = compile(cron("30 2 * * *", { timeZone: "Europe/Paris" }));
    expect(schedule.next(at("2026-03-29T00:00Z"))).toEqual({
      nominal: at("2026-03-29T01:00Z"),
      fireAt: at("2026-03-29T01:00Z"),
      notes: [{ kind: "gap", wallTime: "2026-03-29T02:30:00" }],
    });
    expect(schedule.next(at("2026-10-25T00:00Z"))?.notes).toEqual([{ kind: "overlap", pass: "first" }]);
  });

  it("adds a note for jitter and keeps the nominal instant", () => {
    const fire = compile(cron("0 9 * * *", { jitterMs: 30_000 })).next(at("2026-05-01T00:00Z"));
    const byMs = (fire?.fireAt ?? 0) - (fire?.nominal ?? 0);
    expect(iso(fire?.nominal ?? -1)).toBe("2026-05-01T09:00:00.000Z");
    expect(fire?.notes).toEqual([{ kind: "jittered", byMs }]);
    expect(byMs).toBeGreaterThan(0);
    expect(byMs).toBeLessThan(30_000);
  });
});

describe("compiling", () => {
  it("compiling refuses an invalid schedule unless it was checked before", () => {
    const tooMuchJitter = cron("* * * * *", { jitterMs: 60_000 });
    expect(() => compile(tooMuchJitter)).toThrow(expect.objectContaining({ code: "schedule_invalid" }));
    expect(() => compileSchedule(tooMuchJitter, { jobId: "job_1", checked: true })).not.toThrow();
    expect(() => compile(cron("61 * * * *"))).toThrow(expect.objectContaining({ code: "cron_invalid" }));
    expect(() => compile(cron("0 0 30 2 *"))).toThrow(expect.objectContaining({ code: "cron_never_fires" }));
  });
});
