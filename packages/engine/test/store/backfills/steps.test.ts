import { occurrenceRunId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BackfillHarness, backfillHarness, defaults, lastOf } from "../../harness/backfill-harness.js";
import { actor, overlapping, period, spec } from "../../harness/change-harness.js";

let h: BackfillHarness;
beforeAll(async () => {
  h = await backfillHarness();
});
afterAll(() => h.close());

const allowing = overlapping("allow");

describe("a backfill", () => {
  it("makes one run per instant of its range, with its own identity, and does not change the schedule [INV-1]", async () => {
    const job = await h.settledJob(allowing);
    const before = await h.due(job);
    const { id } = await h.start(job, 5);
    await h.drain();
    expect(await h.places(job)).toEqual([4, 3, 2, 1, 0]);
    const [first] = await h.runs(job);
    expect(first).toMatchObject({
      id: occurrenceRunId(job, h.last - 4 * period, `backfill:${id}`),
      state: "queued",
      trigger: `backfill:${id}`,
      payload: { n: 1 },
      version: 1,
    });
    expect(await h.due(job)).toMatchObject({
      ...before,
      runs_made: 5,
      run_ids: [occurrenceRunId(job, h.last, `backfill:${id}`)],
    });
    expect(await h.get(id)).toMatchObject({ state: "done", total: 5, made: 5, passed: 0, skipped: 0, through: h.last });
    expect(h.node.events.filter((event) => "backfillId" in event && event.backfillId === id).at(-1)).toMatchObject({
      type: "backfill.ended",
      state: "done",
    });
  });

  it("is counted without a write", async () => {
    const job = await h.settledJob();
    const request = { ...defaults, ...lastOf(h, 48) };
    expect(await h.engine.backfills.count("default", { id: job }, request)).toBe(48);
    expect((await h.engine.backfills.list("default", { id: job }, { pageSize: 10 })).rows).toEqual([]);
    expect(await h.select("select id from carillon.backfill where job_id = $1", job)).toEqual([]);
  });

  it("begins with the first instant of its range and ends with the last, both included", async () => {
    const job = await h.settledJob(allowing);
    const { from, to } = lastOf(h, 3);
    for (const [range, total] of [
      [{ from, to }, 3],
      [{ from: from + 1, to }, 2],
      [{ from, to: to - 1 }, 2],
    ] as const)
      expect(await h.engine.backfills.count("default", { id: job }, { ...defaults, ...range })).toBe(total);
    await h.start(job, 3, { from: from + 1, to: to - 1 });
    await h.drain();
    expect(await h.places(job)).toEqual([1]);
  });

  it("makes as many runs at once as its rate allows in a tenth of a second, then waits", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 30, { perSecond: 50 });
    const made: number[] = [];
    for (let step = 0; step < 5; step += 1) {
      await h.node.runner.tick();
      await h.node.runner.tick();
      made.push((await h.get(id)).made);
      h.time.now += step === 3 ? 99 : 100;
    }
    expect(made).toEqual([5, 10, 15, 20, 20]);
    h.time.now -= 99;
    await h.engine.backfills.abort("default", id, actor);
  });

  it("keeps to a rate of less than one in a second", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 3, { perSecond: 0.5 });
    await h.node.runner.tick();
    h.time.now += 1_999;
    await h.node.runner.tick();
    expect((await h.get(id)).made).toBe(1);
    h.time.now += 1;
    await h.node.runner.tick();
    expect((await h.get(id)).made).toBe(2);
    await h.engine.backfills.abort("default", id, actor);
  });

  it("has no more live runs than its concurrency", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 5, { concurrency: 2 });
    await h.drain();
    expect(await h.places(job)).toEqual([4, 3]);
    const [first] = await h.runs(job);
    await h.select("delete from carillon.run where id = $1", first?.["id"]);
    await h.drain();
    expect(await h.places(job)).toEqual([3, 2]);
    expect(await h.get(id)).toMatchObject({ state: "running", made: 3, through: h.last - 2 * period });
    await h.engine.backfills.abort("default", id, actor);
  });

  it("passes instants that ran already without spending its rate", async () => {
    const job = await h.settledJob(allowing);
    const first = await h.start(job, 700);
    await h.drain();
    const second = await h.start(job, 700, { perSecond: 0.01 });
    for (let tick = 0; tick < 3; tick += 1) await h.node.runner.tick();
    expect(await h.get(first.id)).toMatchObject({ made: 700 });
    expect(await h.get(second.id)).toMatchObject({ state: "done", made: 0, passed: 700 });
  });

  it("does not spend max_runs, and runs while the job is paused and after it completed", async () => {
    const schedule = { kind: "every", everyMs: period, anchor: h.last - 1_000 * period, maxRuns: 1 } as const;
    const job = await h.settledJob({ ...allowing, schedule });
    await h.engine.jobs.pause("default", { id: job }, { reason: null, until: null, missed: "none" }, actor);
    await h.start(job, 3);
    await h.drain();
    expect(await h.places(job)).toEqual([2, 1, 0]);
    expect(await h.due(job)).toMatchObject({ state: "paused", fired_count: 0 });
    await h.select("update carillon.job_due set state = 'completed' where job_id = $1", job);
    await h.start(job, 4);
    await h.drain();
    expect(await h.places(job)).toEqual([3, 2, 1, 0]);
    expect((await h.due(job))["state"]).toBe("completed");
  });

  it("waits for occurrences that the schedule has not fired or skipped yet [INV-1]", async () => {
    const job = await h.recurring(allowing, 1);
    const { id } = await h.start(job, 4);
    await h.drain();
    expect(await h.places(job)).toEqual([3, 2]);
    expect(await h.get(id)).toMatchObject({ state: "running", made: 2 });
    await h.fire(job);
    await h.fire(job);
    await h.drain();
    expect(await h.places(job)).toEqual([3, 2, 1, 0]);
    expect(await h.get(id)).toMatchObject({ state: "done", made: 2, passed: 2 });
  });
});

describe("instants that ran already", () => {
  it("are passed with a ledger entry, whether their run is live or in history [INV-1]", async () => {
    const job = await h.recurring(allowing, 2);
    for (let count = 0; count < 3; count += 1) await h.fire(job);
    const [ended] = await h.runs(job);
    await h.store.historyTransaction((tx) =>
      h.store.unitOfWork.writes.endRuns(tx, [{ id: String(ended?.["id"]), reason: "test" }]),
    );
    const { id } = await h.start(job, 5);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 2, passed: 3 });
    expect(await h.places(job)).toEqual([4, 3, 1, 0]);
    expect(await h.ledger(job)).toEqual([
      { version: 1, reason: "already_ran", from_at: h.last - 2 * period, to_at: h.last, count: 3 },
    ]);
  });

  it("are run again if the request repeats them", async () => {
    const job = await h.recurring(allowing, 1);
    for (let count = 0; count < 2; count += 1) await h.fire(job);
    const { id } = await h.start(job, 2, { repeats: true });
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 2, passed: 0 });
    expect(await h.places(job)).toEqual([1, 1, 0, 0]);
    expect(await h.ledger(job)).toEqual([]);
  });

  it("include those of an earlier backfill, and a third backfill does not count them twice in the ledger", async () => {
    const job = await h.settledJob(allowing);
    await h.start(job, 2);
    await h.drain();
    for (let count = 0; count < 2; count += 1) {
      const { id } = await h.start(job, 3);
      await h.drain();
      expect(await h.get(id)).toMatchObject({ made: 1 - count, passed: 2 + count });
    }
    expect(await h.places(job)).toEqual([2, 1, 0]);
    expect(await h.ledger(job)).toMatchObject([
      { reason: "already_ran", from_at: h.last - 2 * period, count: 3 },
      { reason: "already_ran", from_at: h.last - period, count: 2 },
    ]);
  });

  it("are unknown once retention has deleted their history", async () => {
    const job = await h.settledJob(allowing);
    await h.start(job, 2);
    await h.drain();
    await h.forgetRuns(job);
    const { id } = await h.start(job, 2);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ made: 2, passed: 0 });
  });

  it("include the only run of a one-off job, which can be repeated", async () => {
    const at = h.last;
    const { id: job } = await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    const first = await h.start(job, 2);
    await h.drain();
    expect(await h.get(first.id)).toMatchObject({ total: 1, made: 0, passed: 1 });
    const again = await h.start(job, 2, { repeats: true, force: true });
    await h.drain();
    expect(await h.get(again.id)).toMatchObject({ made: 1 });
  });
});
