import type { JobSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PauseRequest } from "../../../../src/index.js";
import { actor, type ChangeHarness, changeHarness, every, period, spec } from "../../../harness/change-harness.js";
import { newId, untilLockWaits } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
  const time = { kind: "once", from: h.last - 100 * period, to: h.last + 100 * period } as const;
  await h.engine.windows.put("default", { name: "freeze", mode: "hold", scope: { queue: "frozen" }, time }, actor);
});
afterAll(() => h.close());

const yearly = { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" } as const;
const edit = (id: string, over: Partial<JobSpec>) =>
  h.engine.jobs.edit("default", { id }, (job) => ({ ...job, ...over }), actor);
const cancel = (id: string) => h.engine.jobs.cancel("default", { id }, { running: "signal" }, actor);
const pause = (id: string, over: Partial<PauseRequest> = {}) =>
  h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none", ...over }, actor);
const resume = (id: string, missed: "none" | "latest" | "all") =>
  h.engine.jobs.resume("default", { id }, { missed }, actor);

/** A job whose due occurrence waits for the end of a maintenance window. */
async function held(over: Partial<JobSpec> = {}, ago = 0): Promise<string> {
  const id = await h.recurring({ queue: "frozen", ...over }, ago);
  const { revision } = await h.store.fires.windows();
  const text = "update carillon.job_due set next_fire_at = $2, state_reason = $3 where job_id = $1";
  await h.db.query({ text }, [id, new Date(h.last + 100 * period).toISOString(), `held ${revision}`]);
  return id;
}

const only = (reason: string, version: number) => [{ version, reason, from_at: h.last, to_at: h.last, count: 1 }];

describe("an occurrence that waits for the end of a maintenance window", () => {
  it("adds an occurrence that a window holds to the ledger when its job is cancelled [INV-11]", async () => {
    const id = await held();
    await cancel(id);
    expect(await h.ledger(id)).toEqual(only("superseded", 1));
    expect(await h.due(id)).toMatchObject({ state: "cancelled", fired_through: h.last, next_nominal_at: null });
  });

  it("counts an occurrence that a window holds as part of a pause: left out, or fired at its end [INV-11]", async () => {
    const [left, fired] = [await held(), await held()];
    for (const id of [left, fired]) await pause(id);
    expect(await h.engine.jobs.countMissed("default", { id: left })).toBe(1);
    expect(await resume(left, "none")).toMatchObject({ missed: 1 });
    expect(await h.ledger(left)).toEqual(only("paused", 2));
    expect(await resume(fired, "latest")).toMatchObject({ missed: 1 });
    expect(await h.ledger(fired)).toEqual([]);
    expect(await h.due(fired)).toMatchObject({ next_nominal_at: h.last, catch_up_to: h.last });
  });

  it("decides an occurrence that a window holds again when its job moves to another queue [INV-11]", async () => {
    const id = await held();
    await edit(id, { queue: "default" });
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last, next_fire_at: h.last, state_reason: null });
    expect(await h.fire(id)).toMatchObject({ outcome: "fired" });
    expect(await h.runs(id)).toMatchObject([{ queue: "default", version: 2 }]);
  });

  it("keeps an occurrence that a window holds if the new rule names it, and adds it to the ledger otherwise [INV-11]", async () => {
    const [kept, lost] = [await held(), await held()];
    await edit(kept, { schedule: { ...every(h.last), endsAt: h.last + 10 * period } });
    expect(await h.due(kept)).toMatchObject({ next_nominal_at: h.last, version: 2, fired_through: null });
    expect(await h.ledger(kept)).toEqual([]);
    await edit(lost, { schedule: yearly });
    expect(await h.ledger(lost)).toEqual(only("superseded", 1));
  });

  it("does not keep a held occurrence together with past instants of the new rule alone [INV-11]", async () => {
    const id = await held({}, 1);
    const job = await edit(id, { schedule: every(h.last, period / 2) });
    expect(await h.ledger(id)).toEqual([
      { version: 1, reason: "superseded", from_at: h.last - period, to_at: h.last, count: 2 },
    ]);
    expect(job.nextRunAt).toBe(h.last + period / 2);
  });
});

describe("occurrences inside a pause", () => {
  async function pausedBefore(occurrences: number, over: Partial<JobSpec> = {}): Promise<string> {
    const id = await h.recurring(over, -1);
    await pause(id);
    const text =
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1";
    await h.db.query({ text }, [id, h.last - (occurrences - 1) * period - 1]);
    return id;
  }

  it("adds the occurrences inside a pause to the ledger when the job is cancelled [INV-11]", async () => {
    const id = await pausedBefore(3);
    expect(await cancel(id)).toMatchObject({ state: "cancelled", pause: null });
    expect(await h.ledger(id)).toEqual([
      { version: 2, reason: "paused", from_at: h.last - 2 * period, to_at: h.last, count: 3 },
    ]);
  });

  it("adds the occurrences inside a pause to the ledger when an edit leaves the job without occurrences [INV-11]", async () => {
    const id = await pausedBefore(2);
    await h.db.query({ text: "update carillon.job_due set max_runs = 1, fired_count = 1 where job_id = $1" }, [id]);
    expect(await resume(id, "all")).toMatchObject({ missed: 2, job: { state: "completed" } });
    expect(await h.ledger(id)).toMatchObject([{ reason: "paused", count: 2 }]);
  });

  it("adds the occurrences inside a pause, and one within its jitter, to the ledger when the rule changes [INV-11]", async () => {
    const id = await pausedBefore(1, { schedule: { ...every(h.last), jitterMs: period - 1_000 } });
    await edit(id, { schedule: yearly });
    expect(await h.ledger(id)).toEqual(only("paused", 2));
  });

  it("does not fire the occurrences inside a pause again when the job moves to an earlier instant [INV-1]", async () => {
    const id = await pausedBefore(3);
    await edit(id, { schedule: { kind: "at", at: h.last - period - 1_000 } });
    expect(await h.due(id)).toMatchObject({ fired_through: h.last });
    expect(await resume(id, "all")).toMatchObject({ missed: 0, job: { state: "completed", nextRunAt: null } });
  });
});

describe("a one-off job that is days late", () => {
  it("fires a one-off job with its first change, however late that is [INV-11]", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at: h.last + 60_000 } }));
    const at = h.last - 50 * period;
    await h.db.query(
      { text: "update carillon.run set run_at = $2, nominal_at = $2, state = 'scheduled' where id = $1" },
      [id, new Date(at).toISOString()],
    );
    expect(await edit(id, { payload: "new" })).toMatchObject({ state: "completed", version: 2 });
    expect(await h.runs(id)).toMatchObject([{ nominal_at: at, payload: { n: 1 }, version: 1 }]);
    expect(await h.ledger(id)).toEqual([]);
  });
});

describe("a change by the key of a job that was cancelled meanwhile", () => {
  it("applies a change by key to the job that has the key now, if another one was cancelled meanwhile", async () => {
    const key = newId();
    const first = await h.engine.jobs.create("default", spec({ key }));
    const second = await h.engine.jobs.create("default", spec());
    let changed: Promise<unknown> = Promise.resolve();
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [first.id]);
      changed = h.engine.jobs.edit("default", { key }, (job) => ({ ...job, payload: "new" }), actor);
      await untilLockWaits(h);
      await tx.query({ text: "update carillon.job_due set state = 'cancelled' where job_id = $1" }, [first.id]);
      await tx.query({ text: "update carillon.job set ended_at = now() where id = $1" }, [first.id]);
      await tx.query({ text: "update carillon.job set key = $2 where id = $1" }, [second.id, key]);
    });
    expect(await changed).toMatchObject({ id: second.id, payload: "new", version: 2 });
    expect(await h.engine.jobs.get("default", { id: first.id })).toMatchObject({ payload: { n: 1 }, version: 1 });
  });
});
