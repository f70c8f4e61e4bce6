import { compileSchedule, type ScheduleSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { countFires } from "../../../src/forecast/count-fires.js";
import type { ForecastJob } from "@carillon/store";

const from = Date.UTC(2026, 10, 16, 8, 0, 30);
const hour = 3_600_000;
const cron = (text: string, jitterMs?: number): ScheduleSpec => ({
  kind: "cron",
  cron: text,
  timeZone: "UTC",
  ...(jitterMs !== undefined && { jitterMs }),
});
const uuid = (n: number): string => `0193e2c4-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
let made = 0;
const jobs = (count: number, schedule: ScheduleSpec): ForecastJob[] =>
  Array.from({ length: count }, () => ({ id: uuid(++made), key: null, schedule }));
const forecast = (sample: readonly ForecastJob[], factor = 1, until = from + hour) =>
  countFires({ jobs: sample, factor, from, until }, ({ id: jobId, schedule }) => compileSchedule(schedule, { jobId }));

describe("a forecast", () => {
  it("counts the fires of each minute", () => {
    const {
      fires,
      perMinute,
      isExact,
      jobs: count,
    } = forecast([...jobs(3, cron("*/30 * * * *")), ...jobs(1, cron("* * * * *"))]);
    expect({ fires, count, isExact }).toEqual({ fires: 3 * 2 + 60, count: 4, isExact: true });
    expect(perMinute).toHaveLength(60);
    expect([perMinute[0], perMinute[29], perMinute[59]]).toEqual([1, 4, 4]);
  });

  it("finds crowded seconds and proposes a jitter that spreads them", () => {
    const { crowded, busiest, proposals } = forecast([
      ...jobs(600, cron("0 * * * *")),
      ...jobs(5, cron("*/5 * * * *")),
    ]);
    expect(busiest).toEqual({ at: Date.UTC(2026, 10, 16, 9), fires: 605 });
    expect(crowded).toEqual([busiest]);
    const [proposal] = proposals;
    expect(proposal).toMatchObject({ jobs: 600, peakBefore: 600 });
    expect(proposal?.jitterMs).toBeGreaterThanOrEqual(60_000);
    expect(proposal?.peakAfter).toBeLessThan(10);
  });

  it("finds no crowded second if a jitter spreads the jobs", () => {
    const { crowded, fires } = forecast(jobs(600, cron("0 * * * *", 300_000)));
    expect({ crowded, fires }).toEqual({ crowded: [], fires: 600 });
  });

  it("never proposes a jitter as long as the interval", () => {
    const [proposal] = forecast(jobs(2_000, cron("*/10 * * * * *")), 1, from + 60_000).proposals;
    expect(proposal === undefined || proposal.jitterMs <= 5_000).toBe(true);
  });

  it("estimates from a sample and marks the forecast as inexact", () => {
    const { fires, jobs: count, sampledJobs, isExact } = forecast(jobs(100, cron("0 * * * *")), 10);
    expect({ fires, count, sampledJobs, isExact }).toEqual({
      fires: 1_000,
      count: 1_000,
      sampledJobs: 100,
      isExact: false,
    });
  });

  it("ends earlier if there are more instants than one forecast counts", () => {
    const many = Array.from({ length: 400 }, (_, n) => jobs(1, cron(`*/${(n % 3) + 1} * * * * ${n % 7}-6`))).flat();
    const sample = [...many, ...jobs(200, cron("* * * * * *", 500))];
    const { until, isExact } = forecast(sample, 1, from + 24 * hour);
    expect(isExact).toBe(false);
    expect(until).toBeLessThan(from + 24 * hour);
    expect(until).toBeGreaterThan(from);
  });
});
