import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PromotedRun } from "@carillon/store";
import { actor, type ChangeHarness, changeHarness, period, spec } from "../../harness/change-harness.js";
import { gatewayId } from "../../harness/store-harness.js";

let h: ChangeHarness;
let at: number;
beforeAll(async () => {
  h = await changeHarness();
  at = h.last + period / 10;
});
afterAll(() => h.close());

const promote = (...ids: string[]): Promise<PromotedRun[]> => h.store.runs.promote(h.fence, ids, period);
const oneOff = async (): Promise<string> =>
  (await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at } }))).id;
/** A run that is queued before its time. */
const ahead = async (): Promise<string> => {
  const id = await oneOff();
  expect(await promote(id)).toMatchObject([{ id, runAt: at }]);
  return id;
};
const claimed = async (): Promise<string[]> => (await h.claim(await h.session(), 10)).map((run) => run.id);
const status = async (id: string): Promise<string | undefined> => (await h.engine.runs.get("default", id))?.status;
const comeToItsTime = (id: string): Promise<unknown> =>
  h.select("update carillon.run set run_at = clock_timestamp() where id = $1", id);

describe("a run that is queued ahead of its time", () => {
  it("is claimed by no claim before its time, and by the first one after it [INV-5]", async () => {
    const id = await ahead();
    expect(await claimed()).toEqual([]);
    await comeToItsTime(id);
    expect(await claimed()).toEqual([id]);
  });

  it("is shown as scheduled until then, and is not counted as waiting for workers", async () => {
    const id = await ahead();
    const stats = async () => (await h.store.queues.stats(1, ["default"], 100)).get("default")?.queued;
    expect(await status(id)).toBe("scheduled");
    expect(await stats()).toBe(0);
    const list = (wanted: "scheduled" | "queued") =>
      h.engine.runs.list("default", { status: [wanted] }, { pageSize: 100 });
    expect((await list("scheduled")).rows.map((run) => run.id)).toContain(id);
    expect((await list("queued")).rows.map((run) => run.id)).not.toContain(id);
    await comeToItsTime(id);
    expect(await status(id)).toBe("queued");
    expect(await stats()).toBe(1);
    await claimed();
  });

  it("is shown as retrying until then, if it failed before", async () => {
    const id = await oneOff();
    await h.select("update carillon.run set state = 'retrying', attempt = 1 where id = $1", id);
    await promote(id);
    expect(await status(id)).toBe("retrying");
    await h.engine.runs.cancel("default", id);
  });

  it("waits for its new time when it is rescheduled", async () => {
    const id = await ahead();
    const later = at + 60_000;
    await h.engine.runs.reschedule("default", id, later);
    expect(await h.select("select state from carillon.run where id = $1", id)).toEqual([{ state: "scheduled" }]);
    expect(await promote(id)).toMatchObject([{ id, runAt: later }]);
  });

  it("is deleted when its job is changed, and the job fires instead [INV-1]", async () => {
    const id = await ahead();
    const job = await h.engine.jobs.edit("default", { id }, (one) => ({ ...one, payload: "new" }), actor);
    expect(job).toMatchObject({ id, payload: "new", state: "active", nextRunAt: at });
    expect(await h.select("select 1 from carillon.run where id = $1", id)).toEqual([]);
  });

  it("ends when it is cancelled, and is not claimed", async () => {
    const id = await ahead();
    await h.engine.jobs.cancel("default", { id }, { running: "keep" }, actor);
    await comeToItsTime(id);
    expect(await status(id)).toBe("cancelled");
    expect(await claimed()).toEqual([]);
  });

  it("is never a run with limits, one that lost a worker, or one of a strict queue", async () => {
    const lanes = await h.store.lanes.ensure(
      (["gated", "lost", "strict", "admitted"] as const).map((kind) => ({ queue: "default", task: "echo", kind })),
    );
    for (const lane of lanes) {
      const id = await h.run({ lane, runAt: at });
      expect(await promote(id)).toEqual([]);
    }
    const id = await oneOff();
    await h.select("update carillon.run set limits = 'x' where id = $1", id);
    expect(await promote(id)).toEqual([]);
  });

  it("is skipped by claims for a strict queue", async () => {
    await h.engine.queues.change("default", "one-by-one", { order: "strict" }, actor);
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "one-by-one", task: "echo", kind: "strict" }]);
    const id = await h.run({ lane, queue: "one-by-one" });
    await h.select("update carillon.run set run_at = now() + interval '1 hour' where id = $1", id);
    const claim = async () =>
      h.store.claims.claimStrict({
        namespaceId: 1,
        queue: "one-by-one",
        lanes: [lane],
        session: await h.session(),
        gatewayId,
        trials: [],
      });
    expect(await claim()).toBeNull();
    await comeToItsTime(id);
    expect(await claim()).toMatchObject({ id });
  });
});
