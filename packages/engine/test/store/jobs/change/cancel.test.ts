import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  overlapping,
  period,
  spec,
  startRuns,
} from "../../../harness/change-harness.js";
import { newId } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const cancel = (id: string, running: "signal" | "keep" = "signal") =>
  h.engine.jobs.cancel("default", { id }, { running }, actor);
const runNow = (id: string, force = false) => h.engine.jobs.runNow("default", { id }, { force }, actor);
const endOf = async (id: string): Promise<unknown[]> =>
  (await h.history(id)).map((run) => [run["status"], run["status_reason"]]);

describe("the cancellation of a job", () => {
  it("makes runs of due occurrences of a cancelled job and ends them with the other waiting runs [INV-11]", async () => {
    const id = await h.recurring(overlapping("queue_all"));
    await runNow(id);
    const job = await cancel(id);
    expect(job).toMatchObject({ state: "cancelled", nextRunAt: null, version: 2 });
    expect(await h.runs(id)).toEqual([]);
    expect(await endOf(id)).toEqual([
      ["cancelled", "cancelled_by_job"],
      ["cancelled", "cancelled_by_job"],
    ]);
    expect(await h.due(id)).toMatchObject({ next_nominal_at: null, fired_through: h.last });
  });

  it("requests running runs of a cancelled job to stop, or keeps them, as requested", async () => {
    for (const [running, reason] of [
      ["signal", "cancelled_by_job"],
      ["keep", null],
    ] as const) {
      const { id } = await h.engine.jobs.create("default", spec(overlapping("allow")));
      await runNow(id);
      await runNow(id);
      await startRuns(h, id);
      await runNow(id);
      expect((await cancel(id, running)).state).toBe("cancelled");
      expect((await h.runs(id)).map((run) => [run["state"], run["cancel_reason"]])).toEqual([
        ["running", reason],
        ["running", reason],
      ]);
      expect(await endOf(id)).toEqual([["cancelled", "cancelled_by_job"]]);
    }
  });

  it("returns the same answer for a second cancel, and refuses every other change", async () => {
    const id = await h.recurring();
    const first = await cancel(id);
    expect(await cancel(id)).toEqual(first);
    for (const change of [
      () => h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: 2 }), actor),
      () => h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor),
      () => h.engine.jobs.resume("default", { id }, {}, actor),
      () => h.engine.jobs.rollback("default", { id }, 1, actor),
      () => runNow(id),
      () => runNow(id, true),
    ])
      await expect(change()).rejects.toMatchObject({ code: "job_ended" });
  });

  it("frees the key of a cancelled job for another job, which the key names from then on", async () => {
    const key = newId();
    const first = await h.engine.jobs.create("default", spec({ key }));
    await cancel(first.id);
    expect((await h.engine.jobs.get("default", { key }))?.id).toBe(first.id);
    const second = await h.engine.jobs.create("default", spec({ key }));
    expect((await h.engine.jobs.get("default", { key }))?.id).toBe(second.id);
    await cancel(second.id);
    expect((await h.engine.jobs.get("default", { key }))?.id).toBe(second.id);
  });

  it("refuses the fire of a wheel that does not know of the cancellation [INV-1]", async () => {
    const id = await h.recurring({}, -1);
    await cancel(id);
    expect(await h.fire(id, { version: 1, nominal: h.last, runsMade: 0 })).toBeNull();
  });

  it("refuses to cancel a job that does not exist or belongs to another namespace [INV-7]", async () => {
    await expect(cancel(newId())).rejects.toMatchObject({ code: "not_found" });
    await h.db.query({ text: "insert into carillon.namespace (name) values ('elsewhere')" });
    const { id } = await h.engine.jobs.create("elsewhere", spec());
    await expect(cancel(id)).rejects.toMatchObject({ code: "not_found" });
    const one = await h.engine.jobs.create("elsewhere", spec({ schedule: { kind: "at", at: h.last + period } }));
    await expect(cancel(one.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(runNow(one.id)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the cancellation of a one-off job without a key", () => {
  const oneOff = async (at: number): Promise<string> =>
    (await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at } }))).id;
  const setState = (id: string, state: string): Promise<unknown> =>
    h.db.query({ text: "update carillon.run set state = $2 where id = $1" }, [id, state]);

  it("ends the run of a cancelled one-off job while it is scheduled, far in the future, queued or retrying", async () => {
    const far = await oneOff(h.last + 100 * period);
    expect(await h.select("select 1 from carillon.far_future_run where id = $1", far)).toHaveLength(1);
    const [near, queued, retrying] = [await oneOff(h.last + 60_000), await oneOff(h.last), await oneOff(h.last)];
    await setState(retrying, "retrying");
    for (const id of [far, near, queued, retrying]) {
      const job = await cancel(id);
      expect(job).toMatchObject({ id, state: "cancelled", lastRun: { status: "cancelled" } });
      expect(await h.runs(id)).toEqual([]);
      expect(await endOf(id)).toEqual([["cancelled", "cancelled_by_job"]]);
      expect(await cancel(id)).toEqual(job);
      await expect(runNow(id)).rejects.toMatchObject({ code: "job_ended" });
    }
    expect(await h.select("select 1 from carillon.far_future_run where id = $1", far)).toEqual([]);
  });

  it("requests the running run of a cancelled one-off job to stop, or keeps it, as requested", async () => {
    const [stopped, kept] = [await oneOff(h.last), await oneOff(h.last)];
    for (const id of [stopped, kept]) await startRuns(h, id);
    await cancel(stopped);
    await cancel(kept, "keep");
    expect(await h.runs(stopped)).toMatchObject([{ state: "running", cancel_reason: "cancelled_by_job" }]);
    expect(await h.runs(kept)).toMatchObject([{ state: "running", cancel_reason: null }]);
  });

  it("refuses to cancel a one-off job with another version", async () => {
    const id = await oneOff(h.last + 60_000);
    const asked = h.engine.jobs.cancel("default", { id }, { running: "keep" }, { actor: null, ifVersion: 2 });
    await expect(asked).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await h.runs(id)).toHaveLength(1);
  });
});
