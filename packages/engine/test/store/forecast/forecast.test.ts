import type { JobSpec, ScheduleSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actor, type ChangeHarness, changeHarness, spec } from "../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const hourly: ScheduleSpec = { kind: "cron", cron: "0 * * * *", timeZone: "UTC" };
const specs = (count: number, schedule: ScheduleSpec): JobSpec[] =>
  Array.from({ length: count }, () => spec({ schedule }));

describe("the forecast of a namespace", () => {
  it("counts every active job of a small namespace and leaves paused jobs out", async () => {
    const created = await h.engine.jobs.createMany("default", specs(300, hourly));
    await h.engine.jobs.createMany("default", specs(2, { kind: "every", everyMs: 60_000, anchor: 0 }));
    const [first] = created;
    const id = first !== undefined && "id" in first ? first.id : "";
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    const forecast = await h.engine.forecasts.get("default", 1);
    expect(forecast).toMatchObject({ isExact: true, jobs: 301, sampledJobs: 301, fires: 299 + 2 * 60 });
    expect(forecast.crowded[0]?.fires).toBeGreaterThanOrEqual(299);
    expect(forecast.proposals[0]).toMatchObject({ jobs: 299, peakBefore: 299 });
    const at = forecast.crowded[0]?.at ?? 0;
    expect(await h.engine.forecasts.firesAt("default", at)).toBeGreaterThanOrEqual(299);
  });

  it("samples some shards of a large namespace and is accurate to a few percent", async () => {
    await h.engine.jobs.createMany("default", specs(30_000, hourly));
    const { isExact, jobs, sampledJobs, fires } = await h.engine.forecasts.get("default", 2);
    expect(isExact).toBe(false);
    expect(sampledJobs).toBeLessThan(28_000);
    expect(jobs / 30_301).toBeGreaterThan(0.93);
    expect(jobs / 30_301).toBeLessThan(1.07);
    expect(fires / jobs).toBeGreaterThan(1.9);
  });
});
