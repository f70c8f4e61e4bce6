import { compileSchedule, type ScheduleSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { ScheduleCache } from "../../../src/schedules/schedule-cache.js";

const cron = (expression: string, jitterMs?: number): ScheduleSpec => ({
  kind: "cron",
  cron: expression,
  timeZone: "UTC",
  ...(jitterMs !== undefined && { jitterMs }),
});
const ids = ["0198a0f0-0000-7000-8000-000000000001", "0198a0f0-0000-7000-8000-000000000002"] as const;
const noon = Date.UTC(2026, 5, 1, 12);

describe("ScheduleCache", () => {
  it("jobs with equal schedules share one compiled schedule", () => {
    const cache = new ScheduleCache(10);
    const [one, two] = ids.map((jobId) => cache.of({ jobId, schedule: cron("*/5 * * * *") }));
    expect(one).toBe(two);
    expect(cache.size).toBe(1);
    expect(one?.nextNominal(noon)).toBe(noon + 300_000);
  });

  it("jobs with jitter share a compiled rule, and each job has the same jitter on every node", () => {
    const cache = new ScheduleCache(10);
    const schedule = cron("0 * * * *", 600_000);
    const shared = ids.map((jobId) => cache.of({ jobId, schedule }).jitterAt(noon));
    expect(shared).toEqual(ids.map((jobId) => compileSchedule(schedule, { jobId }).jitterAt(noon)));
    expect(shared[0]).not.toBe(shared[1]);
    expect(cache.size).toBe(1);
  });

  it("schedules that differ in any member are compiled separately", () => {
    const cache = new ScheduleCache(10);
    const next = (schedule: ScheduleSpec): number => cache.of({ jobId: ids[0], schedule }).nextNominal(noon);
    expect(next({ kind: "every", everyMs: 1_000, anchor: noon })).toBe(noon + 1_000);
    expect(next({ kind: "every", everyMs: 1_000, anchor: noon + 7 })).toBe(noon + 7);
    expect(next({ kind: "every", everyMs: 2_000, anchor: noon })).toBe(noon + 2_000);
  });

  it("the cache returns the first spec for all equal specs", () => {
    const cache = new ScheduleCache(10);
    const first = cron("*/5 * * * *");
    expect(cache.rule(first).schedule).toBe(first);
    expect(cache.rule(cron("*/5 * * * *")).schedule).toBe(first);
    expect(cache.rule(cron("*/6 * * * *")).schedule).not.toBe(first);
  });

  it("the cache stays within its bound and compiles dropped schedules again", () => {
    const cache = new ScheduleCache(3);
    for (let minute = 0; minute < 10; minute += 1) cache.of({ jobId: ids[0], schedule: cron(`${minute} * * * *`) });
    expect(cache.size).toBe(3);
    expect(cache.of({ jobId: ids[0], schedule: cron("1 * * * *") }).nextNominal(noon)).toBe(noon + 60_000);
  });

  it("an unchecked cache validates each spec that it compiles", () => {
    const job = { jobId: ids[0], schedule: cron("61 * * * *") };
    expect(() => new ScheduleCache(3, false).of(job)).toThrow(expect.objectContaining({ code: "cron_invalid" }));
  });
});
