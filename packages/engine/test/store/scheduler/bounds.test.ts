import { compileSchedule, type CronSchedule, type ScheduleSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  hourMs,
  instantsOf,
  minuteMs,
  type SchedulerHarness,
  schedulerHarness,
} from "../../harness/scheduler-harness.js";

let h: SchedulerHarness;
beforeEach(async () => {
  h = await schedulerHarness();
});
afterEach(() => h.close());

const all = { misfire: "run_all", catchupWindowMs: 4_000 * 24 * hourMs, catchupPerSecond: 1_000 } as const;
const now = (): number => Math.floor(h.db.clock.now());

/** A job that fires everything since its first instant. */
async function catchingUp(schedule: ScheduleSpec, first: number, over: { maxRuns?: number } = {}): Promise<string> {
  const firing = { ...all, maxCatchupRuns: 100_000, overlap: "allow" } as const;
  const when = { nextNominal: first, nextFireAt: first };
  return (await h.job({ schedule, firing, overlap: "allow", ...when, ...over })).jobId;
}

describe("the bounds of a schedule", () => {
  it("a schedule fires nothing after ends_at and is then completed", async () => {
    const anchor = now() - 10 * minuteMs;
    const schedule: ScheduleSpec = { kind: "every", everyMs: minuteMs, anchor, endsAt: anchor + 3 * minuteMs };
    const jobId = await catchingUp(schedule, anchor);
    await (await h.node()).settle();
    expect(await h.fired(jobId)).toEqual([0, 1, 2, 3].map((n) => anchor + n * minuteMs));
    expect(await h.due(jobId)).toMatchObject({ state: "completed", next_nominal_at: null });
  });

  it("a schedule fires max_runs times and is then completed, however many nodes count", async () => {
    const anchor = now() - 10 * minuteMs;
    const jobId = await catchingUp({ kind: "every", everyMs: minuteMs, anchor, maxRuns: 3 }, anchor, { maxRuns: 3 });
    await (await h.node()).settle();
    await (await h.node()).settle();
    expect(await h.fired(jobId)).toEqual([0, 1, 2].map((n) => anchor + n * minuteMs));
    expect(await h.due(jobId)).toMatchObject({ state: "completed", fired_count: 3 });
  });

  it("a schedule with jitter keeps its nominal instants and fires each at the time that every node computes [INV-5]", async () => {
    const anchor = now() - 90 * minuteMs;
    const schedule: ScheduleSpec = { kind: "every", everyMs: hourMs, anchor, jitterMs: 10 * minuteMs };
    const { jobId, shard } = await h.job({ schedule, nextNominal: anchor, nextFireAt: anchor });
    const { jitterAt } = bound(compileSchedule(schedule, { jobId }));
    await h.select(
      "update carillon.job_due set next_fire_at = $2 where job_id = $1",
      jobId,
      new Date(anchor + jitterAt(anchor)).toISOString(),
    );
    const node = await h.node();
    node.scheduler.readShards([shard]);
    await node.settle();
    const second = anchor + hourMs;
    expect(await h.fired(jobId)).toEqual([second]);
    const third = second + hourMs;
    expect(await h.due(jobId)).toMatchObject({ next_nominal_at: third, next_fire_at: third + jitterAt(third) });
    const [run] = await h.select("select run_at, created_at from carillon.run where job_id = $1", jobId);
    expect(run).toMatchObject({ run_at: second + jitterAt(second) });
  });

  it("a schedule in a zone whose clock jumps fires once after a gap and once in an overlap", async () => {
    const schedule: CronSchedule = { kind: "cron", cron: "30 2 * * *", timeZone: "Europe/Paris" };
    for (const night of ["2026-03-29", "2025-10-26"]) {
      const from = Date.parse(`${night}T00:00Z`) - 24 * hourMs;
      const until = from + 3 * 24 * hourMs;
      const instants = instantsOf(schedule, from, until);
      const jobId = await catchingUp({ ...schedule, endsAt: until }, instants[0] ?? 0);
      await (await h.node()).settle();
      expect(await h.fired(jobId)).toEqual(instants);
      expect(instants.map((at) => new Date(at).toISOString().slice(11, 16))).toEqual(
        night === "2026-03-29" ? ["01:30", "01:00", "00:30"] : ["00:30", "00:30", "01:30"],
      );
    }
  });

  it("an hourly schedule fires in both passes of a repeated hour and not in a gap", async () => {
    const schedule: CronSchedule = { kind: "cron", cron: "0 * * * *", timeZone: "Europe/Paris" };
    for (const night of ["2026-03-29", "2025-10-26"]) {
      const from = Date.parse(`${night}T00:00Z`) - 2 * hourMs;
      const until = from + 5 * hourMs;
      const jobId = await catchingUp({ ...schedule, endsAt: until }, from);
      await (await h.node()).settle();
      expect(await h.fired(jobId)).toEqual([0, 1, 2, 3, 4, 5].map((n) => from + n * hourMs));
    }
  });
});

function bound(schedule: ReturnType<typeof compileSchedule>): { jitterAt(nominal: number): number } {
  return { jitterAt: (nominal) => schedule.jitterAt(nominal) };
}
