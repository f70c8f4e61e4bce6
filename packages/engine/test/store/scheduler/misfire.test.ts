import type { FiringPolicy, Instant, ScheduleSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  account,
  hourMs,
  instantsOf,
  minuteMs,
  type SchedulerHarness,
  schedulerHarness,
} from "../../harness/scheduler-harness.js";

let h: SchedulerHarness;
beforeAll(async () => {
  h = await schedulerHarness();
});
afterAll(() => h.close());

const minutely: ScheduleSpec = { kind: "cron", cron: "* * * * *", timeZone: "UTC" };

/** A job that no scheduler has read for three hours. Its runs may overlap, so that lateness alone decides. */
async function stopped(firing: Partial<FiringPolicy>, schedule = minutely): Promise<{ jobId: string; since: Instant }> {
  const now = h.db.clock.now();
  const [since = 0] = instantsOf(schedule, now - 3 * hourMs, now);
  const policy = { overlap: "allow", ...firing } as const;
  const { jobId } = await h.job({
    schedule,
    firing: policy,
    overlap: policy.overlap,
    nextNominal: since,
    nextFireAt: since,
  });
  return { jobId, since };
}

/** What became of everything from `since` to the job's next instant. */
async function outcome(jobId: string, since: Instant, schedule = minutely) {
  const until = Number((await h.due(jobId))["next_nominal_at"]) - 1;
  const instants = instantsOf(schedule, since, until);
  const [fired, ledger] = [await h.fired(jobId), await h.ledger(jobId)];
  return { instants, fired, ledger, ...account(instants, fired, ledger) };
}

describe("misfire policies after a stop of three hours", () => {
  it("misfire run_once fires the latest occurrence after a stop, and the ledger has the others [INV-11]", async () => {
    const { jobId, since } = await stopped({});
    const node = await h.node();
    await node.settle();
    const { instants, fired, ledger, lost, twice, counted } = await outcome(jobId, since);
    expect({ lost, twice, counted }).toEqual({ lost: [], twice: [], counted: instants.length });
    expect(fired.at(-1)).toBe(instants.at(-1));
    expect(fired.length).toBeLessThanOrEqual(2);
    expect(ledger).toMatchObject([{ reason: "missed", from: since }]);
    expect(node.events).toContainEqual({ type: "occurrence.missed", jobId, count: ledger[0]?.count });
  });

  it("misfire skip fires no occurrence that is later than the threshold [INV-11]", async () => {
    const schedule: ScheduleSpec = {
      kind: "every",
      everyMs: hourMs,
      anchor: h.db.clock.now() - 3 * hourMs - minuteMs * 30,
    };
    const { jobId, since } = await stopped({ misfire: "skip" }, schedule);
    await (await h.node()).settle();
    const { instants, fired, ledger, lost, twice } = await outcome(jobId, since, schedule);
    expect({ fired, lost, twice }).toEqual({ fired: [], lost: [], twice: [] });
    expect(ledger).toMatchObject([{ reason: "missed", from: since, to: instants.at(-1), count: 3 }]);
  });

  it("misfire run_all fires the latest occurrences up to its cap, at its rate [INV-11]", async () => {
    const { jobId, since } = await stopped({ misfire: "run_all", maxCatchupRuns: 50, catchupPerSecond: 1_000 });
    await (await h.node()).settle();
    const { instants, fired, lost, twice, counted } = await outcome(jobId, since);
    expect({ lost, twice, counted }).toEqual({ lost: [], twice: [], counted: instants.length });
    expect(fired.length).toBeGreaterThanOrEqual(50);
    expect(fired.length).toBeLessThanOrEqual(52);
    expect(fired).toEqual(instants.slice(-fired.length));
  });

  it("a job with a catch-up window of an hour fires no older occurrence [INV-11]", async () => {
    const policy = { misfire: "run_all", catchupWindowMs: hourMs, catchupPerSecond: 1_000 } as const;
    const { jobId, since } = await stopped(policy);
    const began = h.db.clock.now();
    await (await h.node()).settle();
    const { instants, fired, lost, twice, counted } = await outcome(jobId, since);
    expect({ lost, twice, counted }).toEqual({ lost: [], twice: [], counted: instants.length });
    expect(fired[0]).toBeGreaterThanOrEqual(began - hourMs);
    expect(fired.length).toBeGreaterThanOrEqual(60);
  });

  it("a job with overlap skip records the occurrences during its live run as one ledger range [INV-11]", async () => {
    const policy = { misfire: "run_all", maxCatchupRuns: 40, catchupPerSecond: 1_000, overlap: "skip" } as const;
    const { jobId, since } = await stopped(policy);
    await (await h.node()).settle();
    const { instants, fired, ledger, lost, twice, counted } = await outcome(jobId, since);
    expect({ lost, twice, counted }).toEqual({ lost: [], twice: [], counted: instants.length });
    expect(fired).toHaveLength(1);
    expect(ledger.map((range) => range.reason)).toEqual(["missed", "overlap"]);
  });

  it("a job for a single instant fires it after a stop that is shorter than the catch-up window", async () => {
    const at = Math.floor(h.db.clock.now()) - 3 * hourMs;
    const { jobId } = await h.job({ schedule: { kind: "at", at }, nextNominal: at, nextFireAt: at });
    const node = await h.node();
    await node.settle();
    expect(await h.fired(jobId)).toEqual([at]);
    expect(await h.due(jobId)).toMatchObject({ state: "completed", next_fire_at: null });
    expect(node.events.find((event) => event.type === "run.late")).toMatchObject({ jobId, scheduledFor: at });
  });
});
