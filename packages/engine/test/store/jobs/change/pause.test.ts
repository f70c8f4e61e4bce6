import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PauseRequest } from "../../../../src/index.js";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  every,
  period,
  setDue,
  spec,
} from "../../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const pause = (id: string, over: Partial<PauseRequest> = {}) =>
  h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none", ...over }, actor);
const resume = (id: string, missed?: "none" | "latest" | "all") =>
  h.engine.jobs.resume("default", { id }, missed === undefined ? {} : { missed }, actor);

/** A job that was paused before so many of its occurrences. */
async function pausedBefore(occurrences: number, over: Partial<PauseRequest> = {}): Promise<string> {
  const id = await h.recurring({}, -1);
  await pause(id, over);
  const after = h.last - (occurrences - 1) * period - 1;
  await h.db.query(
    {
      text: "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1",
    },
    [id, after],
  );
  return id;
}

describe("a pause", () => {
  it("fires due occurrences before a pause and none after it [INV-11]", async () => {
    const id = await h.recurring();
    const job = await pause(id, { reason: "too loud", until: h.last + period, missed: "all" });
    expect(job).toMatchObject({
      state: "paused",
      version: 2,
      // It has missed an occurrence by then, which fires when the pause ends.
      nextRunAt: h.last + period,
      pause: { reason: "too loud", actor: "me", until: h.last + period, missed: "all" },
    });
    expect(await h.runs(id)).toHaveLength(1);
    expect(await h.due(id)).toMatchObject({
      state: "paused",
      next_nominal_at: null,
      next_fire_at: h.last + period,
      fired_through: h.last,
    });
  });

  it("refuses the fire of a wheel that does not know of the pause [INV-1]", async () => {
    const id = await h.recurring({}, -1);
    await pause(id, { until: h.last + period });
    expect(await h.fire(id, { version: 1, nominal: h.last, runsMade: 0 })).toBeNull();
    expect(await h.runs(id)).toEqual([]);
  });

  it("replaces the reason and end of a pause and keeps its begin", async () => {
    const id = await pausedBefore(3);
    const first = (await h.engine.jobs.get("default", { id }))?.pause;
    const job = await pause(id, { reason: "still", missed: "latest" });
    expect(job).toMatchObject({ version: 3, pause: { reason: "still", missed: "latest", at: first?.at } });
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(3);
  });

  it("refuses a pause that ends in the past", async () => {
    const id = await h.recurring();
    await expect(pause(id, { until: h.last })).rejects.toMatchObject({ code: "field_invalid" });
  });
});

describe("the end of a pause", () => {
  it("adds the occurrences inside a pause to the ledger as one range when the job is resumed [INV-11]", async () => {
    const id = await pausedBefore(3);
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(3);
    expect(await resume(id)).toMatchObject({ missed: 3, job: { state: "active", version: 3, pause: null } });
    expect(await h.ledger(id)).toEqual([
      { version: 2, reason: "paused", from_at: h.last - 2 * period, to_at: h.last, count: 3 },
    ]);
    expect(await h.due(id)).toMatchObject({
      fired_through: h.last,
      next_nominal_at: h.last + period,
      catch_up_to: null,
    });
  });

  it("fires the latest occurrence inside a pause on resume, and adds the others to the ledger [INV-11]", async () => {
    const id = await pausedBefore(3);
    expect((await resume(id, "latest")).missed).toBe(3);
    expect(await h.ledger(id)).toMatchObject([{ from_at: h.last - 2 * period, to_at: h.last - period, count: 2 }]);
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last, next_fire_at: h.last, catch_up_to: h.last });
    expect(await h.fire(id)).toMatchObject({ outcome: "fired" });
  });

  it("fires all occurrences inside a pause on resume, from the first to the last [INV-11]", async () => {
    const id = await pausedBefore(3);
    expect((await resume(id, "all")).missed).toBe(3);
    expect(await h.ledger(id)).toEqual([]);
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last - 2 * period, catch_up_to: h.last });
  });

  it("uses the choice of the pause for a resume without one", async () => {
    const id = await pausedBefore(2, { missed: "all" });
    await resume(id);
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last - period });
  });

  it("changes nothing for a resume of a job that is not paused", async () => {
    const id = await h.recurring();
    expect(await resume(id)).toMatchObject({ missed: 0, job: { version: 1 } });
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(0);
  });

  it("completes a resumed job without occurrences", async () => {
    const schedule = { ...every(h.last), endsAt: h.last };
    const { id } = await h.engine.jobs.create("default", spec({ schedule: { ...schedule, endsAt: h.last + period } }));
    await setDue(h, id, h.last + period);
    await pause(id);
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, schedule }), actor);
    expect(await resume(id)).toMatchObject({ missed: 0, job: { state: "completed", nextRunAt: null } });
  });

  it("counts the new rule's occurrences since an edit inside a pause, and records the old rule's at the edit [INV-11]", async () => {
    const id = await pausedBefore(3);
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, schedule: every(h.last, period / 2) }), actor);
    expect(await h.ledger(id)).toMatchObject([{ version: 2, reason: "paused", count: 3, to_at: h.last }]);
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(0);
    expect(await resume(id, "all")).toMatchObject({ missed: 0, job: { nextRunAt: h.last + period / 2 } });
  });
});

describe("a pause with an end", () => {
  const expire = (id: string): Promise<unknown> =>
    h.db.query({ text: "update carillon.job_due set next_fire_at = now() - interval '1 second' where job_id = $1" }, [
      id,
    ]);

  it("ends a pause at its end, once, by the node that owns the shard [INV-2]", async () => {
    const id = await pausedBefore(3, { until: h.last + period, missed: "latest" });
    const due = { jobId: id, version: 2 };
    expect(await h.expirePauses(h.fence, [due])).toEqual([]);
    await expire(id);
    expect(await h.expirePauses({ ...h.fence, node: id }, [due])).toEqual([]);
    const both = await Promise.all([h.expirePauses(h.fence, [due]), h.expirePauses(h.fence, [due])]);
    expect(both.flat()).toEqual([id]);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ state: "active", version: 3, pause: null });
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last, catch_up_to: h.last });
  });

  it("does not count occurrences after the end of a pause, however late a node ends it [INV-11]", async () => {
    const id = await pausedBefore(3, { until: h.last + period });
    const text =
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('until', $2::bigint))::json where id = $1";
    await h.db.query({ text }, [id, h.last - 1]);
    expect(await h.engine.jobs.countMissed("default", { id })).toBe(2);
    await expire(id);
    expect(await h.expirePauses(h.fence, [{ jobId: id, version: 2 }])).toEqual([id]);
    expect(await h.ledger(id)).toMatchObject([{ reason: "paused", to_at: h.last - period, count: 2 }]);
    expect(await h.due(id)).toMatchObject({ state: "active", next_nominal_at: h.last, catch_up_to: null });
  });

  it("does not end a pause whose end was moved [INV-2]", async () => {
    const id = await pausedBefore(1, { until: h.last + period });
    await pause(id, { until: h.last + 2 * period });
    await expire(id);
    expect(await h.expirePauses(h.fence, [{ jobId: id, version: 2 }])).toEqual([]);
  });

  it("keeps a job paused without an end, and says why, if its rule can no longer be compiled [INV-11]", async () => {
    const [broken, whole] = [
      await pausedBefore(2, { until: h.last + period }),
      await pausedBefore(2, { until: h.last + period }),
    ];
    await h.db.query({ text: `update carillon.job set schedule = '{"kind":"nonsense"}' where id = $1` }, [broken]);
    for (const id of [broken, whole]) await expire(id);
    const due = [broken, whole].map((jobId) => ({ jobId, version: 2 }));
    expect((await h.expirePauses(h.fence, due)).toSorted()).toEqual([broken, whole].toSorted());
    expect(await h.due(whole)).toMatchObject({ state: "active", fired_through: h.last });
    expect(await h.due(broken)).toMatchObject({ state: "paused", next_fire_at: null, version: 3 });
    const [job] = await h.select("select pause from carillon.job where id = $1", broken);
    expect(job).toMatchObject({ pause: { reason: expect.stringMatching(/^cannot be resumed: /), until: null } });
    // It can still be given a rule, or be cancelled.
    await h.engine.jobs.edit("default", { id: broken }, (one) => ({ ...one, schedule: every(h.last) }), actor);
    expect(await resume(broken)).toMatchObject({ job: { state: "active", nextRunAt: h.last + period } });
  });

  it("ends the pauses of many jobs at once", async () => {
    const ids = await Promise.all([1, 2, 3].map((n) => pausedBefore(n, { until: h.last + period, missed: "all" })));
    for (const id of ids) await expire(id);
    const over = await h.expirePauses(
      h.fence,
      ids.map((jobId) => ({ jobId, version: 2 })),
    );
    expect(over.toSorted()).toEqual(ids.toSorted());
    const first = await Promise.all(ids.map(async (id) => (await h.due(id))["next_nominal_at"]));
    expect(first).toEqual([0, 1, 2].map((n) => h.last - n * period));
  });
});

describe("the next occurrences of a job", () => {
  it("lists the occurrences after the decided ones, bounded by the job's maximum of runs", async () => {
    const id = await h.recurring({}, -1);
    const next = await h.engine.jobs.upcoming("default", { id }, 3);
    expect(next.map((fire) => fire.nominal)).toEqual([1, 2, 3].map((n) => h.last + n * period));
    const bounded = await h.recurring({ schedule: { ...every(h.last), maxRuns: 2 } }, -1);
    expect(await h.engine.jobs.upcoming("default", { id: bounded }, 3)).toHaveLength(2);
  });

  it("lists the occurrences after the end of a pause, and none without an end", async () => {
    const id = await h.recurring({}, -1);
    await pause(id, { until: h.last + period + 1 });
    const [first] = await h.engine.jobs.upcoming("default", { id }, 1);
    expect(first?.nominal).toBe(h.last + 2 * period);
    await pause(id);
    expect(await h.engine.jobs.upcoming("default", { id }, 3)).toEqual([]);
  });
});
