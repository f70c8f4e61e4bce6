import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  period,
  setDue,
  spec,
  startRuns,
} from "../../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const oneOff = async (at: number): Promise<string> => {
  const labels = { team: "ops" };
  return (await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at }, labels, owner: "me" }))).id;
};
const pause = (id: string) =>
  h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
const edit = (id: string, payload: unknown) =>
  h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload }), actor);
const live = (id: string) => h.select("select id, state from carillon.run where id = $1", id);

describe("the first change of a one-off job that is stored as its run alone", () => {
  it("makes a stored job of a one-off job before its time, and the job fires in place of its run [INV-1]", async () => {
    for (const at of [h.last + 60_000, h.last + 100 * period]) {
      const id = await oneOff(at);
      const job = await edit(id, "new");
      expect(job).toMatchObject({ id, payload: "new", version: 2, state: "active", nextRunAt: at, owner: "me" });
      expect(job.labels).toEqual({ team: "ops" });
      expect(await live(id)).toEqual([]);
      expect(await h.select("select 1 from carillon.far_future_run where id = $1", id)).toEqual([]);
      expect(await h.due(id)).toMatchObject({ state: "active", next_nominal_at: at, fired_through: null });
    }
  });

  it("gives the run of a changed one-off job the id that its caller received [INV-1]", async () => {
    const id = await oneOff(h.last + 60_000);
    await edit(id, "new");
    await setDue(h, id, h.last);
    expect(await h.fire(id)).toMatchObject({ outcome: "fired", run: { id } });
    expect(await h.engine.runs.get("default", id)).toMatchObject({ id, jobId: id, payload: "new", status: "queued" });
    const { rows } = await h.engine.jobs.list("default", {}, { pageSize: 100 });
    expect(rows.filter((job) => job.id === id)).toHaveLength(1);
  });

  it("finds the future run of a changed one-off job by its id, also while the job is paused or cancelled [INV-1]", async () => {
    for (const at of [h.last + 60_000, h.last + 100 * period]) {
      const id = await oneOff(at);
      await edit(id, "new");
      const scheduled = {
        id,
        jobId: id,
        status: "scheduled",
        runAt: at,
        payload: "new",
        owner: "me",
        finishedAt: null,
      };
      expect(await h.engine.runs.get("default", id)).toMatchObject({ ...scheduled, statusReason: null });
      await pause(id);
      expect(await h.engine.runs.get("default", id)).toMatchObject({ ...scheduled, statusReason: "paused" });
      await h.engine.jobs.cancel("default", { id }, { running: "keep" }, actor);
      const ended = { id, status: "cancelled", statusReason: "cancelled_by_job", finishedAt: expect.any(Number) };
      expect(await h.engine.runs.get("default", id)).toMatchObject(ended);
    }
    const cron = (await h.engine.jobs.create("default", spec())).id;
    expect(await h.engine.runs.get("default", cron)).toBeNull();
  });

  it("cancels a changed one-off job once when its future run is cancelled by id [INV-4]", async () => {
    const id = await oneOff(h.last + 60_000);
    await edit(id, "new");
    const how = { reason: "cancelled_by_user", isOfRunning: true };
    const done = await Promise.all([1, 2].map(() => h.store.runChanges.cancel(1, [id], how)));
    expect(done.flat()).toMatchObject([{ id, jobId: id, isEnded: true }]);
    const ended = { id, jobId: id, status: "cancelled", statusReason: "cancelled_by_user", payload: "new" };
    expect(await h.engine.runs.get("default", id)).toMatchObject(ended);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({
      state: "cancelled",
      version: 3,
      lastRun: ended,
    });
    expect(await h.due(id)).toMatchObject({ state: "cancelled", next_nominal_at: null, runs_made: 1 });
  });

  it("pauses, moves and runs a changed one-off job like any other job", async () => {
    const at = h.last + 60_000;
    const id = await oneOff(at);
    expect(await pause(id)).toMatchObject({ state: "paused", nextRunAt: null });
    const resumed = await h.engine.jobs.resume("default", { id }, {}, actor);
    expect(resumed).toMatchObject({ missed: 0, job: { state: "active", nextRunAt: at } });
    const run = await h.engine.jobs.runNow("default", { id }, {}, actor);
    expect(run).toMatchObject({ jobId: id, status: "queued", trigger: { kind: "run_now" } });
    expect(run.id).not.toBe(id);
    expect((await h.engine.jobs.get("default", { id }))?.lastRun?.id).toBe(run.id);
  });

  it("leaves the run of a one-off job as it is when the job is changed while the run waits, runs or has ended [INV-4]", async () => {
    const [queued, running, ended] = [await oneOff(h.last), await oneOff(h.last), await oneOff(h.last)];
    await startRuns(h, running);
    const session = await h.session();
    await h.db.query(
      {
        text: "update carillon.run set state = 'running', session_id = $2, fence = 1, claimed_at = now() where id = $1",
      },
      [ended, session],
    );
    const done = { status: "succeeded", reason: null, output: "1", error: null, startedAt: h.last } as const;
    await h.store.claims.finish([{ session, id: ended, fence: 1, ...done }]);
    for (const [id, status] of [
      [queued, "queued"],
      [running, "running"],
      [ended, "succeeded"],
    ] as const) {
      const job = await edit(id, "new");
      expect(job).toMatchObject({ id, version: 2, state: "completed", payload: "new", lastRun: { id, status } });
      expect(await h.due(id)).toMatchObject({ fired_through: h.last, run_ids: [id], runs_made: 1 });
      expect((await h.engine.runs.get("default", id))?.payload).toEqual({ n: 1 });
    }
  });

  it("makes one stored job when several callers change a one-off job at the same time", async () => {
    for (const at of [h.last, h.last + 60_000, h.last + 100 * period]) {
      const id = await oneOff(at);
      await Promise.all([edit(id, 1), edit(id, 2), edit(id, 3)]);
      expect((await h.engine.jobs.get("default", { id }))?.version).toBe(4);
    }
  });

  it("lists a changed one-off job once", async () => {
    const id = await oneOff(h.last);
    await edit(id, "new");
    const { rows } = await h.engine.jobs.list("default", {}, { pageSize: 1_000 });
    expect(rows.filter((job) => job.id === id)).toMatchObject([{ payload: "new" }]);
  });

  it("reads the version, ledger and next instant of a one-off job without making a stored job", async () => {
    const id = await oneOff(h.last + 60_000);
    const versions = await h.engine.jobs.versions("default", { id }, { pageSize: 10 });
    expect(versions.rows).toMatchObject([{ version: 1, validTo: null, spec: { labels: { team: "ops" } } }]);
    expect((await h.engine.jobs.occurrences("default", { id }, { pageSize: 10 })).rows).toEqual([]);
    expect(await h.engine.jobs.upcoming("default", { id }, 5)).toMatchObject([{ nominal: h.last + 60_000 }]);
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(0);
    expect(await live(id)).toMatchObject([{ state: "scheduled" }]);
  });
});
