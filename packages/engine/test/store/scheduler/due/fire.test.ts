import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fireRow,
  newId,
  type StoreHarness,
  storeHarness,
  termsOf,
  untilLockWaits,
} from "../../../harness/store-harness.js";

let h: StoreHarness;
beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());

const runsOf = async (jobId: string): Promise<number> =>
  (await h.db.query({ text: "select 1 from carillon.run where job_id = $1" }, [jobId])).rowCount;

describe("due.fire", () => {
  it("repeated fires of an occurrence create one run [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    const job = await h.job();
    const answers = await Promise.all([1, 2, 3, 4].map(() => h.store.fires.fire(termsOf(fence), [fireRow(job)])));
    expect(answers.flat()).toHaveLength(1);
    expect(await runsOf(job.jobId)).toBe(1);
  });

  it("a fire creates no second run after the row was set back, because the run's id follows from the occurrence [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    const job = await h.job({ firing: { overlap: "allow" }, overlap: "allow" });
    await h.store.fires.fire(termsOf(fence), [fireRow(job)]);
    await h.db.query(
      {
        text: "update carillon.job_due set next_nominal_at = $2, next_fire_at = $2, fired_through = null where job_id = $1",
      },
      [job.jobId, new Date(job.nominal).toISOString()],
    );
    const [second] = await h.store.fires.fire(termsOf(fence), [fireRow(job)]);
    expect(second).toMatchObject({ jobId: job.jobId, outcome: "duplicate", run: null });
    expect(await runsOf(job.jobId)).toBe(1);
    const ledger = { text: "select reason, count::int from carillon.occurrence where job_id = $1" };
    expect((await h.db.query(ledger, [job.jobId])).rows).toEqual([{ reason: "duplicate", count: 1 }]);
  });

  it("a fire under an old epoch changes nothing [INV-2]", async () => {
    const old = await h.takeAll(newId());
    const job = await h.job();
    await h.takeAll(newId());
    expect(await h.store.fires.fire(termsOf(old), [fireRow(job)])).toEqual([]);
    expect(await runsOf(job.jobId)).toBe(0);
  });

  it("a fire changes nothing if the shard is taken over while the statement waits for it [INV-2]", async () => {
    const old = await h.takeAll(newId());
    const job = await h.job();
    let zombie: Promise<unknown[]> = Promise.resolve([]);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "update carillon.shard set owner = $1, epoch = epoch + 1 where id = $2" }, [
        newId(),
        job.shard,
      ]);
      zombie = h.store.fires.fire(termsOf(old), [fireRow(job)]);
      await untilLockWaits(h);
    });
    expect(await zombie).toEqual([]);
    expect(await runsOf(job.jobId)).toBe(0);
  });

  it("an occurrence is not fired before its time by the database's clock, also if the caller's clock is ahead [INV-5]", async () => {
    const fence = await h.takeAll(newId());
    const soon = Date.now() + 3_600_000;
    const job = await h.job({ nextNominal: soon, nextFireAt: soon });
    expect(await h.store.fires.fire(termsOf(fence), [fireRow(job)])).toEqual([]);
    expect(await runsOf(job.jobId)).toBe(0);
  });

  it("a fire is refused for a changed definition, although the instant is the same", async () => {
    const fence = await h.takeAll(newId());
    const job = await h.job();
    await h.db.query({ text: "update carillon.job_due set version = 2 where job_id = $1" }, [job.jobId]);
    expect(await h.store.fires.fire(termsOf(fence), [fireRow(job)])).toEqual([]);
  });

  it("a fire skips a job whose row another transaction holds and fires the others", async () => {
    const fence = await h.takeAll(newId());
    const [held, free] = [await h.job(), await h.job()];
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [held.jobId]);
      const fired = await h.store.fires.fire(termsOf(fence), [fireRow(held), fireRow(free)]);
      expect(fired.map((one) => one.jobId)).toEqual([free.jobId]);
    });
    expect(await h.store.fires.fire(termsOf(fence), [fireRow(held)])).toHaveLength(1);
  });

  it("a fire copies task, payload and labels from the job and completes the job at max_runs", async () => {
    const fence = await h.takeAll(newId());
    const job = await h.job({ payload: { a: [1, "x", null] }, labels: { team: "ops" }, maxRuns: 1 });
    const [fired] = await h.store.fires.fire(termsOf(fence), [fireRow(job)]);
    expect(fired?.isLast).toBe(true);
    const [run] = await h.store.reads.live(1, [fired?.run?.id ?? ""]);
    expect(run).toMatchObject({
      payload: { a: [1, "x", null] },
      labels: { team: "ops" },
      status: "queued",
      trigger: "schedule",
    });
    const [row] = await h.store.jobs.find(1, [job.jobId]);
    expect(row).toMatchObject({ state: "completed", next_fire_at: null });
  });

  it("missed occurrences become a ledger entry, and the job continues [INV-11]", async () => {
    const fence = await h.takeAll(newId());
    const job = await h.job();
    const through = job.nominal + 60_000;
    const next = through + 60_000;
    const range = { reason: "missed", from: job.nominal, to: through, count: 2, detail: null } as const;
    const row = { job, range, next: { nominal: next, fireAt: next }, catchUpTo: null, notes: [] };
    expect(await h.store.fires.pass(termsOf(fence), [row])).toEqual([job.jobId]);
    expect(await h.store.fires.pass(termsOf(fence), [row])).toEqual([]);
    const ledger = await h.db.query({ text: "select reason, count::int from carillon.occurrence where job_id = $1" }, [
      job.jobId,
    ]);
    expect(ledger.rows).toEqual([{ reason: "missed", count: 2 }]);
  });
});
