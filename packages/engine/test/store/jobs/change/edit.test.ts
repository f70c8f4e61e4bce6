import type { JobSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  every,
  period,
  overlapping,
  setDue,
  spec,
} from "../../../harness/change-harness.js";
import { newId } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const edit = (id: string, over: Partial<JobSpec>, ifVersion?: number) =>
  h.engine.jobs.edit("default", { id }, (current) => ({ ...current, ...over }), {
    ...actor,
    ...(ifVersion === undefined ? {} : { ifVersion }),
  });
const yearly = { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" } as const;

describe("an edit of a job", () => {
  it("fires due occurrences under the old definition and later ones under the new one [INV-11]", async () => {
    const id = await h.recurring({ payload: "old" }, 2);
    const job = await edit(id, { payload: "new" });
    expect(job).toMatchObject({ version: 2, payload: "new", state: "active" });
    const runs = await h.runs(id);
    expect(runs.map((run) => [run["payload"], run["version"]])).toEqual([["old", 1]]);
    expect(await h.ledger(id)).toEqual([
      { version: 1, reason: "missed", from_at: h.last - 2 * period, to_at: h.last - period, count: 2 },
    ]);
    expect(Number((await h.due(id))["next_nominal_at"])).toBeGreaterThan(h.last);
  });

  it("makes a run of each due occurrence of an edited job that allows overlap [INV-1, INV-11]", async () => {
    const id = await h.recurring(
      { ...overlapping("allow"), firing: { overlap: "allow", misfireThresholdMs: 3 * period } },
      2,
    );
    await edit(id, { schedule: yearly });
    const nominals = (await h.runs(id)).map((run) => Number(run["nominal_at"]));
    expect(nominals).toEqual([2, 1, 0].map((ago) => h.last - ago * period));
  });

  it("does not fire past instants that only the new rule names", async () => {
    const id = (await h.engine.jobs.create("default", spec({ schedule: yearly }))).id;
    const job = await edit(id, { schedule: every(h.last) });
    expect(await h.runs(id)).toEqual([]);
    expect(job.nextRunAt).toBeGreaterThan(h.last);
  });

  it("refuses the fire of a stale wheel entry whose instant the new rule names too [INV-1]", async () => {
    const id = await h.recurring({}, -1);
    const entry = { version: 1, nominal: h.last + period, runsMade: 0 };
    await edit(id, { schedule: every(h.last, period / 2) });
    await setDue(h, id, h.last);
    expect(await h.fire(id, { ...entry, nominal: h.last })).toBeNull();
    expect(await h.runs(id)).toEqual([]);
    expect(await h.fire(id)).toMatchObject({ outcome: "fired" });
  });

  it("keeps an occurrence within its jitter if the rule stays, and records it as superseded otherwise [INV-11]", async () => {
    const [kept, lost] = [await h.recurring(), await h.recurring()];
    for (const id of [kept, lost])
      await h.db.query(
        { text: "update carillon.job_due set next_fire_at = now() + interval '1 hour' where job_id = $1" },
        [id],
      );
    await edit(kept, { payload: 2 });
    await edit(lost, { schedule: yearly });
    expect(await h.due(kept)).toMatchObject({ next_nominal_at: h.last, version: 2 });
    expect(await h.ledger(kept)).toEqual([]);
    expect(await h.ledger(lost)).toEqual([
      { version: 1, reason: "superseded", from_at: h.last, to_at: h.last, count: 1 },
    ]);
  });

  it("stores the replaced definition, and none for a job without edits", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ payload: "first", key: newId() }));
    const none = await h.select("select * from carillon.job_version where job_id = $1", id);
    expect(none).toEqual([]);
    await edit(id, { payload: "second" });
    await edit(id, { priority: 9 });
    const { rows } = await h.engine.jobs.versions("default", { id }, { pageSize: 10 });
    expect(rows.map((one) => [one.version, one.spec.payload, one.spec.priority])).toEqual([
      [3, "second", 9],
      [2, "second", 4],
      [1, "first", 4],
    ]);
    expect(rows[2]).toMatchObject({ replacedBy: "me", validTo: rows[1]?.validFrom });
    const page = await h.engine.jobs.versions("default", { id }, { pageSize: 2 });
    const rest = await h.engine.jobs.versions("default", { id }, { pageSize: 2, after: page.next ?? "" });
    expect([...page.rows, ...rest.rows].map((one) => one.version)).toEqual([3, 2, 1]);
    expect(rest.next).toBeNull();
  });

  it("makes no version for an edit that changes nothing, and leaves due occurrences to the scheduler", async () => {
    const id = await h.recurring({ firing: { overlap: "allow" } });
    const job = await edit(id, { payload: { n: 1 }, firing: { overlap: "allow", misfire: "run_once" } });
    expect(job.version).toBe(1);
    expect(await h.runs(id)).toEqual([]);
    expect((await h.due(id))["next_nominal_at"]).toBe(h.last);
  });

  it("refuses an edit with another key or an invalid schedule, and decides no due occurrence for it", async () => {
    const id = await h.recurring();
    await expect(edit(id, { key: "other" })).rejects.toMatchObject({ code: "field_invalid" });
    const schedule = { kind: "cron", cron: "61 * * * *", timeZone: "UTC" } as const;
    await expect(edit(id, { schedule })).rejects.toMatchObject({ code: "cron_invalid" });
    expect(await h.runs(id)).toEqual([]);
    expect(await h.due(id)).toMatchObject({ version: 1, next_nominal_at: h.last });
  });

  it("refuses an edit for an older version of the job", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    const results = await Promise.allSettled([1, 2, 3].map((payload) => edit(id, { payload }, 1)));
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    const refused = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused).toMatchObject([{ code: "precondition_failed" }, { code: "precondition_failed" }]);
    expect((await h.engine.jobs.get("default", { id }))?.version).toBe(2);
  });

  it("applies concurrent edits of a job one after the other", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ payload: 0 }));
    const add = () =>
      h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: Number(job.payload) + 1 }), actor);
    await Promise.all([add(), add(), add(), add()]);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ payload: 4, version: 5 });
  });

  it("fails with job_busy when another transaction holds the job's row for long", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [id]);
      await expect(edit(id, { payload: 2 })).rejects.toMatchObject({ code: "job_busy" });
    });
    expect((await edit(id, { payload: 2 })).version).toBe(2);
  });

  it("moves a job with its live runs to another lane, class and overlap policy", async () => {
    const id = await h.recurring(overlapping("allow"), 0);
    await h.fire(id);
    await setDue(h, id, h.last + period);
    await h.db.query({ text: "update carillon.job_due set next_fire_at = next_nominal_at where job_id = $1" }, [id]);
    const [live] = await h.runs(id);
    expect(live).toMatchObject({ untracked: true });
    await edit(id, { queue: "other", priority: 9, firing: { overlap: "queue_one" } });
    expect(await h.due(id)).toMatchObject({ class: 0, overlap: "queue_one", run_ids: [live?.["id"]] });
    const lanes = await h.select(
      "select l.queue from carillon.job j join carillon.lane l on l.id = j.lane where j.id = $1",
      id,
    );
    expect(lanes).toEqual([{ queue: "other" }]);
  });

  it("makes a completed job active again, and completes a job without occurrences", async () => {
    const at = h.db.clock.now() - 1_000;
    const { id } = await h.engine.jobs.create("default", spec({ key: newId(), schedule: { kind: "at", at } }));
    await edit(id, { payload: "fires first" });
    expect(await h.due(id)).toMatchObject({ state: "completed", fired_through: Math.floor(at) });
    const later = await edit(id, { schedule: { kind: "at", at: at + 3_600_000 } });
    expect(later).toMatchObject({ state: "active", nextRunAt: at + 3_600_000 });
    const over = await edit(id, { schedule: { ...yearly, endsAt: at } });
    expect(over).toMatchObject({ state: "completed", nextRunAt: null });
  });
});

describe("a rollback", () => {
  it("makes a new version of the old definition when a job is rolled back", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ payload: "first", labels: { a: "b" } }));
    await edit(id, { payload: "second", labels: {} });
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await edit(id, { payload: "third" });
    const back = await h.engine.jobs.rollback("default", { id }, 1, actor);
    expect(back).toMatchObject({ version: 5, payload: "first", labels: { a: "b" }, state: "paused" });
    expect(await h.engine.jobs.rollback("default", { id }, 3, actor)).toMatchObject({ version: 6, payload: "second" });
  });

  it("changes nothing for a rollback to the definition in force, and refuses an unknown version", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    expect((await h.engine.jobs.rollback("default", { id }, 1, actor)).version).toBe(1);
    for (const version of [0, 2])
      await expect(h.engine.jobs.rollback("default", { id }, version, actor)).rejects.toMatchObject({
        code: "version_unknown",
      });
  });
});

describe("an upsert", () => {
  it("creates one job for twenty concurrent upserts, and applies each of them", async () => {
    const key = newId();
    const put = (n: number) => h.engine.jobs.upsert("default", key, () => spec({ payload: n }), actor);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put(n)));
    expect(answers.filter((one) => one.created)).toHaveLength(1);
    expect(new Set(answers.map((one) => one.job.id)).size).toBe(1);
    expect((await h.engine.jobs.get("default", { key }))?.version).toBe(20);
  });

  it("creates another job for an upsert if the one with the key is cancelled", async () => {
    const key = newId();
    const first = await h.engine.jobs.upsert("default", key, () => spec(), actor);
    await h.engine.jobs.cancel("default", { key }, { running: "signal" }, actor);
    const second = await h.engine.jobs.upsert("default", key, () => spec(), actor);
    expect(second.created).toBe(true);
    expect(second.job.id).not.toBe(first.job.id);
    expect((await h.engine.jobs.get("default", { key }))?.id).toBe(second.job.id);
  });
});
