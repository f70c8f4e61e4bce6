import type { CronSchedule, Instant, ScheduleSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { judgeYear } from "./oracle/judge-year.js";
import { Simulation } from "./world/simulation.js";

// Calendars remove the last instants of these rules, or all of them, so that no later occurrence adds those instants to the ledger.

const saturday = Date.UTC(2026, 0, 3);
const hour = 3_600_000;
const day = 24 * hour;

const always: CronSchedule = { kind: "cron", cron: "0 * * * *", timeZone: "UTC" };
/** Names 40 instants, all of which the calendar removes. */
const weekend: CronSchedule = {
  ...always,
  calendars: { exclude: ["weekends"] },
  startsAt: saturday + hour,
  endsAt: saturday + 40 * hour,
};

interface SimulatedJob {
  readonly world: Simulation;
  readonly jobId: string;
  replace(schedule: ScheduleSpec | null): Promise<void>;
  /** How many removed instants are in the ledger. */
  removed(): number;
  /** The complaints of the judge. */
  verdict(): string;
}

async function create(schedule: ScheduleSpec, startsAt = saturday): Promise<SimulatedJob> {
  const world = new Simulation({ seed: 1, startsAt });
  await world.cluster.start(0);
  const spec = { task: "echo", queue: "mail", priority: 4, payload: null, schedule, policy: {}, labels: {} };
  world.create({ spec, bornAt: startsAt, runMs: 1_000 });
  const [jobId = ""] = world.jobIds;
  return {
    world,
    jobId,
    async replace(next) {
      const { changes } = world;
      const outcome =
        next === null ? changes.cancel(jobId) : changes.edit(jobId, (job) => ({ ...job, schedule: next }));
      expect(await outcome).toBe("done");
      world.replaceRule(jobId, next);
    },
    removed: () =>
      [...world.tables.ledger.values()]
        .filter((range) => range.reason === "calendar")
        .reduce((sum, range) => sum + range.count, 0),
    verdict: () => judgeYear(world.record(world.now)).report,
  };
}

/** Simulates the time up to and including an instant. */
async function liveUntil({ world }: SimulatedJob, until: Instant): Promise<void> {
  world.agenda.add(until, () => undefined);
  await world.run(until);
}

describe("a job whose calendars remove every instant of its rule", () => {
  it("is completed at creation, with all instants in the ledger [INV-11]", async () => {
    const job = await create(weekend);
    expect(job.world.tables.jobs.get(job.jobId)?.due.state).toBe("completed");
    expect(job.removed()).toBe(40);
    await liveUntil(job, saturday + 10 * day);
    expect([job.removed(), job.verdict()]).toEqual([40, ""]);
  });

  it.each([
    { when: "before its rule begins", at: saturday + hour / 2, removed: 0 },
    { when: "in the middle of its rule", at: saturday + 10.5 * hour, removed: 10 },
    { when: "after the end of its rule", at: saturday + 50 * hour, removed: 40 },
  ])("keeps the instants up to the change in the ledger when its rule is replaced $when [INV-11]", async (change) => {
    const job = await create(weekend);
    await liveUntil(job, change.at);
    await job.replace(always);
    expect(job.removed()).toBe(change.removed);
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([change.removed, ""]);
  });

  it("keeps the instants up to its cancellation in the ledger [INV-11]", async () => {
    const job = await create(weekend);
    await liveUntil(job, saturday + 10.5 * hour);
    await job.replace(null);
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([10, ""]);
  });

  it("keeps all instants in the ledger when an edit leaves its rule as it is [INV-11]", async () => {
    const job = await create(weekend);
    await liveUntil(job, saturday + 10.5 * hour);
    expect(await job.world.changes.edit(job.jobId, (spec) => ({ ...spec, priority: 1 }))).toBe("done");
    expect(job.removed()).toBe(40);
    await liveUntil(job, saturday + 20.5 * hour);
    await job.replace(always);
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([20, ""]);
  });
});

describe("a new rule of which calendars remove every instant", () => {
  it("completes the job, with all instants of the new rule in the ledger [INV-11]", async () => {
    const job = await create(always);
    await liveUntil(job, saturday + 10.5 * hour);
    await job.replace(weekend);
    expect(job.world.tables.jobs.get(job.jobId)?.due.state).toBe("completed");
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([30, ""]);
  });
});

describe("a rule whose last instants calendars remove", () => {
  const friday = saturday - day;
  const long: CronSchedule = { ...weekend, startsAt: friday };

  it("has them in the ledger up to its end once its last occurrence has fired [INV-11]", async () => {
    const job = await create(long, friday);
    await liveUntil(job, saturday);
    expect(job.world.tables.jobs.get(job.jobId)?.due.state).toBe("completed");
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([41, ""]);
  });

  it("keeps those up to the change in the ledger when it is replaced after its last occurrence [INV-11]", async () => {
    const job = await create(long, friday);
    await liveUntil(job, saturday + 10.5 * hour);
    await job.replace(always);
    await liveUntil(job, saturday + 5 * day);
    expect([job.removed(), job.verdict()]).toEqual([11, ""]);
  });
});
