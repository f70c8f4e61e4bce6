import type { JobSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { rankByPriority } from "../../../src/catalog/rank-run.js";
import { planJob } from "../../../src/jobs/plan-job.js";
import { ScheduleCache } from "../../../src/schedules/schedule-cache.js";
import { noCalendars } from "../../../src/schedules/schedule-calendars.js";

const now = Date.UTC(2026, 10, 12, 8, 30);
const dayMs = 86_400_000;
const place = { id: "0190aaaa-0000-7000-8000-000000000001", namespaceId: 1, lane: 1, shard: 1 };

function planned(over: Partial<JobSpec>) {
  const spec: JobSpec = {
    task: "echo",
    queue: "default",
    priority: 4,
    payload: null,
    schedule: { kind: "at", at: now - 2 * dayMs },
    policy: {},
    labels: {},
    ...over,
  };
  return planJob(place, spec, {
    now,
    catchupWindowMs: dayMs,
    schedules: new ScheduleCache(10),
    calendars: noCalendars,
    rank: rankByPriority,
  });
}

describe("an instant older than the catch-up window", () => {
  it("refuses an instant older than the catch-up window", () => {
    expect(() => planned({})).toThrow(expect.objectContaining({ code: "schedule_in_past" }));
    expect(() => planned({ firing: { misfire: "skip" } })).toThrow("catch-up window");
  });

  it("accepts an instant older than the catch-up window with run_once, and catches up with it", () => {
    expect(planned({ firing: { misfire: "run_once" } })).toMatchObject({
      kind: "run",
      run: { runAt: now - 2 * dayMs },
    });
    expect(planned({ key: "k", firing: { misfire: "run_once" } })).toMatchObject({
      kind: "job",
      job: { catchUpTo: now - 2 * dayMs, firing: {} },
    });
  });

  it("accepts an instant inside the catch-up window of the job", () => {
    expect(planned({ firing: { catchupWindowMs: 3 * dayMs } })).toMatchObject({
      kind: "job",
      job: { nextNominal: now - 2 * dayMs },
    });
  });
});

it("stores a one-off job as its run alone unless it has a key or a policy to keep", () => {
  const schedule = { kind: "at", at: now + dayMs } as const;
  expect(planned({ schedule }).kind).toBe("run");
  expect(planned({ schedule, firing: { overlap: "skip" } }).kind).toBe("run");
  expect(planned({ schedule, key: "k" }).kind).toBe("job");
  expect(planned({ schedule, firing: { overlap: "allow" } })).toMatchObject({
    kind: "job",
    job: { firing: { overlap: "allow" }, overlap: "allow" },
  });
});
