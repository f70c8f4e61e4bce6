import { occurrenceRunId, type ScheduleSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hourMs, minuteMs, type SchedulerHarness, schedulerHarness } from "../../harness/scheduler-harness.js";
import { fireRow, newId, termsOf, untilLockWaits } from "../../harness/store-harness.js";
import type { DueJob } from "@carillon/store";

let h: SchedulerHarness;
beforeEach(async () => {
  h = await schedulerHarness();
});
afterEach(() => h.close());

const yearly = (anchor: number): ScheduleSpec => ({ kind: "every", everyMs: 365 * 24 * hourMs, anchor });

/** A job with one occurrence a moment ago. */
async function dueJob(over: Parameters<SchedulerHarness["job"]>[0] = {}): Promise<DueJob> {
  const at = Math.floor(h.db.clock.now()) - 1_000;
  return h.job({ schedule: yearly(at), nextNominal: at, nextFireAt: at, ...over });
}

describe("a stale window", () => {
  it("a scheduler with a stale row does not fire the old schedule, although the new one has the same next instant [INV-1]", async () => {
    const job = await dueJob();
    const node = await h.node({
      around: (store) => ({
        ...store,
        async load(...args) {
          const jobs = await store.load(...args);
          const ids = jobs.map((one) => one.jobId);
          const text =
            "update carillon.job_due set version = version + 1 where job_id = any ($1::uuid[]) and version = 1";
          await h.db.query({ text }, [ids]);
          return jobs;
        },
      }),
    });
    await node.until("write.fenced");
    expect(await h.fired(job.jobId)).toEqual([]);
    expect(await h.due(job.jobId)).toMatchObject({ next_nominal_at: job.nominal, fired_through: null });
    expect(node.events).toContainEqual({ type: "write.fenced", statement: "due.fire", count: 1 });
    await node.settle();
    expect(await h.fired(job.jobId)).toEqual([job.nominal]);
  });

  it("a scheduler that lost its shards writes no runs, ledger entries or holds [INV-2]", async () => {
    const old = await h.node();
    await old.settle();
    const [fires, passes] = [await dueJob(), await dueJob({ firing: { misfire: "skip", misfireThresholdMs: 0 } })];
    await h.node();
    old.scheduler.jobDue(fires);
    old.scheduler.jobDue(passes);
    await old.until("write.fenced", 2);
    expect(await h.select("select 1 from carillon.run union all select 1 from carillon.occurrence")).toEqual([]);
    expect(old.events).toContainEqual({ type: "write.fenced", statement: "due.fire", count: 1 });
    expect(old.events).toContainEqual({ type: "write.fenced", statement: "due.pass", count: 1 });
  });

  it("a scheduler whose clock is an hour ahead fires nothing early [INV-5]", async () => {
    const at = Math.floor(h.db.clock.now()) + 30 * minuteMs;
    const job = await h.job({ nextNominal: at, nextFireAt: at });
    const node = await h.node();
    node.skewMs = hourMs;
    await node.until("write.fenced", 3);
    expect(await h.fired(job.jobId)).toEqual([]);
  });

  it("a scheduler whose clock is an hour ahead does not treat a due occurrence as missed [INV-11]", async () => {
    const node = await h.node();
    await node.settle();
    node.skewMs = hourMs;
    const job = await dueJob({ firing: { misfire: "skip", misfireThresholdMs: minuteMs } });
    node.scheduler.readShards([job.shard]);
    await node.until("write.fenced", 2);
    expect(await h.select("select 1 from carillon.occurrence")).toEqual([]);
    node.skewMs = 0;
    node.scheduler.readShards([job.shard]);
    await node.settle();
    expect(await h.fired(job.jobId)).toEqual([job.nominal]);
  });

  it("a scheduler whose clock goes back an hour fires nothing twice [INV-9]", async () => {
    const job = await dueJob();
    const node = await h.node();
    await node.settle();
    node.skewMs = -hourMs;
    node.scheduler.readShards([job.shard]);
    node.scheduler.jobDue(job);
    await node.scheduler.tick();
    node.skewMs = 0;
    node.scheduler.jobDue(job);
    await node.settle();
    expect(await h.fired(job.jobId)).toEqual([job.nominal]);
  });
});

describe("a lost wakeup", () => {
  it("the full scan finds a job whose wakeup was lost", async () => {
    const node = await h.node();
    await node.settle();
    const job = await dueJob();
    await node.scheduler.tick();
    expect(await h.fired(job.jobId)).toEqual([]);
    node.skewMs = 16_000;
    await node.settle();
    expect(await h.fired(job.jobId)).toEqual([job.nominal]);
  });
});

describe("a transaction that holds a job's row", () => {
  it.each(["skip", "queue_one"] as const)(
    "a transaction that holds a job's row delays the fire of that job alone, under %s [INV-11]",
    async (overlap) => {
      const over = { firing: { overlap }, overlap };
      const [held, ...others] = [await dueJob(over), await dueJob(over), await dueJob(over)];
      const node = await h.node();
      await h.db.transaction(async (tx) => {
        await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [held?.jobId]);
        await node.until("run.fired", 2);
        for (const job of others) expect(await h.fired(job.jobId)).toEqual([job.nominal]);
        expect(await h.fired(held?.jobId ?? "")).toEqual([]);
      });
      node.scheduler.readShards([held?.shard ?? 0]);
      await node.settle();
      expect(await h.fired(held?.jobId ?? "")).toEqual([held?.nominal]);
    },
  );
});

describe("overlap skip", () => {
  it("overlap skip records the occurrences during a live run as one ledger range and continues after the run's end [INV-11]", async () => {
    const first = Math.floor(h.db.clock.now()) - 1_000;
    const schedule: ScheduleSpec = { kind: "every", everyMs: 100, anchor: first };
    const { jobId } = await h.job({ schedule, nextNominal: first, nextFireAt: first });
    const node = await h.node();
    await node.until("occurrence.skipped", 5);
    expect(await h.fired(jobId)).toEqual([first]);
    const [range, ...more] = await h.ledger(jobId);
    expect(more).toEqual([]);
    expect(range).toMatchObject({ reason: "overlap", from: first + 100 });
    await h.select("delete from carillon.run where job_id = $1", jobId);
    await node.until("run.fired", 2);
    const [second] = await h.fired(jobId);
    expect(second).toBeGreaterThan(range?.to ?? 0);
  });

  it("overlap skip considers a manual run that was created after the fire's statement began", async () => {
    const job = await dueJob();
    const fence = await h.takeAll(newId());
    const byHand = newId();
    let fire: Promise<unknown[]> = Promise.resolve([]);
    await h.db.transaction(async (tx) => {
      // The fire has its snapshot and waits for the shard while a caller runs the job manually.
      await tx.query({ text: "select 1 from carillon.shard where id = $1 for update" }, [job.shard]);
      fire = h.store.fires.fire(termsOf(fence), [fireRow(job)]);
      await untilLockWaits(h);
      await h.run({ id: byHand, jobId: job.jobId, trigger: `run_now:${byHand}` });
      const text = "update carillon.job_due set runs_made = runs_made + 1, run_ids = array[$2::uuid] where job_id = $1";
      await h.db.query({ text }, [job.jobId, byHand]);
    });
    expect(await fire).toEqual([]);
    expect(await h.fired(job.jobId)).toEqual([]);
    await (await h.node()).settle();
    expect(await h.fired(job.jobId)).toEqual([]);
    expect(await h.ledger(job.jobId)).toMatchObject([{ reason: "overlap", count: 1 }]);
  });

  it("overlap allow fires beside live runs", async () => {
    const job = await dueJob({ firing: { overlap: "allow" }, overlap: "allow" });
    const live = await h.run({ jobId: job.jobId });
    const text = "update carillon.job_due set runs_made = 7, run_ids = array[$2::uuid] where job_id = $1";
    await h.db.query({ text }, [job.jobId, live]);
    await (await h.node()).settle();
    expect(await h.fired(job.jobId)).toEqual([job.nominal]);
    const [run] = await h.select("select untracked, version from carillon.run where trigger = 'schedule'");
    expect(run).toEqual({ untracked: true, version: 1 });
  });
});

describe("jobs whose runs wait for each other", () => {
  it("overlap queue_one keeps one run waiting and records the other occurrences in the ledger [INV-11]", async () => {
    const first = Math.floor(h.db.clock.now()) - 1_000;
    const schedule: ScheduleSpec = { kind: "every", everyMs: 200, anchor: first };
    const overlap = "queue_one";
    const { jobId } = await h.job({ schedule, firing: { overlap }, overlap, nextNominal: first, nextFireAt: first });
    const node = await h.node();
    await node.until("occurrence.skipped", 2);
    const runs = await h.select("select state, serial from carillon.run where job_id = $1 order by nominal_at", jobId);
    expect(runs).toEqual([
      { state: "queued", serial: true },
      { state: "blocked", serial: true },
    ]);
    expect(await h.ledger(jobId)).toMatchObject([{ reason: "overlap", from: first + 400 }]);
    expect(node.count("run.blocked")).toBe(1);
    expect(node.queued.map((run) => run.id)).toEqual([occurrenceRunId(jobId, first, "schedule")]);
  });

  it("overlap cancel_running requests the running run to stop", async () => {
    const first = Math.floor(h.db.clock.now()) - 1_000;
    const schedule: ScheduleSpec = { kind: "every", everyMs: 500, anchor: first };
    const overlap = "cancel_running";
    await h.job({ schedule, firing: { overlap }, overlap, nextNominal: first, nextFireAt: first });
    const stopped = new Set<string>();
    const node = await h.node({ onStopped: (ids) => ids.forEach((id) => stopped.add(id)) });
    await node.until("run.fired");
    const [running] = await h.select(
      "update carillon.run set state = 'running', session_id = gen_random_uuid() where state = 'queued' returning id",
    );
    await node.until("run.blocked");
    expect([...stopped]).toEqual([running?.["id"]]);
  });
});

describe("poison jobs", () => {
  it("a job that makes its batch fail is quarantined with the error as the reason, and the other 1,999 jobs fire", async () => {
    const jobs: DueJob[] = [];
    for (let index = 0; index < 20; index += 1) {
      jobs.push(...(await Promise.all(Array.from({ length: 100 }, () => dueJob()))));
    }
    const poison = jobs[1_234];
    await h.select(`create function public.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'this one is poison'; end $$`);
    await h.select(`create trigger refuse before insert on carillon.run for each row
      when (new.job_id = '${poison?.jobId}') execute function public.refuse()`);
    const node = await h.node({ limits: { inFlight: 1 } });
    await node.settle();
    const [{ fired } = {}] = await h.select("select count(*)::int as fired from carillon.run");
    expect(fired).toBe(1_999);
    expect(await h.due(poison?.jobId ?? "")).toMatchObject({ state: "paused", version: 2 });
    const quarantined = node.events.filter((event) => event.type === "job.quarantined");
    expect(quarantined).toMatchObject([{ jobId: poison?.jobId, reason: "this one is poison" }]);
    const [job] = await h.select("select pause from carillon.job where id = $1", poison?.jobId);
    expect(job).toMatchObject({ pause: { reason: "quarantined: this one is poison", actor: "system" } });
  });

  it("no job is quarantined when every row fails", async () => {
    const jobs = [await dueJob(), await dueJob(), await dueJob()];
    await h.select(`create function public.refuse_all() returns trigger language plpgsql as
      $$ begin raise exception 'no run today'; end $$`);
    await h.select(`create trigger refuse_all before insert on carillon.run for each row
      execute function public.refuse_all()`);
    const node = await h.node({ limits: { inFlight: 1 } });
    await expect(node.until("run.fired")).rejects.toThrow("no run today");
    await expect(node.until("run.fired")).rejects.toThrow("no run today");
    for (const job of jobs) expect(await h.due(job.jobId)).toMatchObject({ state: "active", version: 1 });
    await h.select("drop trigger refuse_all on carillon.run");
    await node.settle();
    for (const job of jobs) expect(await h.fired(job.jobId)).toEqual([job.nominal]);
  });
});
