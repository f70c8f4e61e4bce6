import type { JobSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PauseRequest } from "../../../../src/index.js";
import { actor, type ChangeHarness, changeHarness, every, period, spec } from "../../../harness/change-harness.js";
import { newId, untilLockWaits } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
  const time = { kind: "once", from: h.last - 100 * period, to: h.last + 100 * period } as const;
  await h.api.putWindow("default", { name: "freeze", mode: "hold", scope: { queue: "frozen" }, time }, actor);
});
afterAll(() => h.close());

const yearly = { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" } as const;
const edit = (id: string, over: Partial<JobSpec>) =>
  h.api.editJob("default", { id }, (job) => ({ ...job, ...over }), actor);
const cancel = (id: string) => h.api.cancelJob("default", { id }, { running: "signal" }, actor);
const pause = (id: string, over: Partial<PauseRequest> = {}) =>
  h.api.pauseJob("default", { id }, { reason: null, until: null, missed: "none", ...over }, actor);
const resume = (id: string, missed: "none" | "latest" | "all") => h.api.resumeJob("default", { id }, { missed }, actor);

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
  it("is in the ledger when its job is cancelled [INV-11]", async () => {
    const id = await held();
    await cancel(id);
    expect(await h.ledger(id)).toEqual(only("superseded", 1));
    expect(await h.due(id)).toMatchObject({ state: "cancelled", fired_through: h.last, next_nominal_at: null });
  });

  it("is one of those that a pause swallows: left out, or fired at its end [INV-11]", async () => {
    const [left, fired] = [await held(), await held()];
    for (const id of [left, fired]) await pause(id);
    expect(await h.api.countMissed("default", { id: left })).toBe(1);
    expect(await resume(left, "none")).toMatchObject({ missed: 1 });
    expect(await h.ledger(left)).toEqual(only("paused", 2));
    expect(await resume(fired, "latest")).toMatchObject({ missed: 1 });
    expect(await h.ledger(fired)).toEqual([]);
    expect(await h.due(fired)).toMatchObject({ next_nominal_at: h.last, catch_up_to: h.last });
  });

  it("is decided anew when its job goes to another queue [INV-11]", async () => {
    const id = await held();
    await edit(id, { queue: "default" });
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last, next_fire_at: h.last, state_reason: null });
    expect(await h.fire(id)).toMatchObject({ outcome: "fired" });
    expect(await h.runs(id)).toMatchObject([{ queue: "default", version: 2 }]);
  });

  it("stays when it is an instant of the new rule too, and goes to the ledger when it is not [INV-11]", async () => {
    const [kept, lost] = [await held(), await held()];
    await edit(kept, { schedule: { ...every(h.last), endsAt: h.last + 10 * period } });
    expect(await h.due(kept)).toMatchObject({ next_nominal_at: h.last, version: 2, fired_through: null });
    expect(await h.ledger(kept)).toEqual([]);
    await edit(lost, { schedule: yearly });
    expect(await h.ledger(lost)).toEqual(only("superseded", 1));
  });

  it("does not stay with others that only the new rule names [INV-11]", async () => {
    const id = await held({}, 1);
    const job = await edit(id, { schedule: every(h.last, period / 2) });
    expect(await h.ledger(id)).toEqual([
      { version: 1, reason: "superseded", from_at: h.last - period, to_at: h.last, count: 2 },
    ]);
    expect(job.nextRunAt).toBe(h.last + period / 2);
  });
});

describe("what a pause swallowed", () => {
  async function pausedBefore(occurrences: number, over: Partial<JobSpec> = {}): Promise<string> {
    const id = await h.recurring(over, -1);
    await pause(id);
    const text =
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1";
    await h.db.query({ text }, [id, h.last - (occurrences - 1) * period - 1]);
    return id;
  }

  it("is in the ledger when the job is cancelled [INV-11]", async () => {
    const id = await pausedBefore(3);
    expect(await cancel(id)).toMatchObject({ state: "cancelled", pause: null });
    expect(await h.ledger(id)).toEqual([
      { version: 2, reason: "paused", from_at: h.last - 2 * period, to_at: h.last, count: 3 },
    ]);
  });

  it("is in the ledger when an edit left the job without runs to come [INV-11]", async () => {
    const id = await pausedBefore(2);
    await h.db.query({ text: "update carillon.job_due set max_runs = 1, fired_count = 1 where job_id = $1" }, [id]);
    expect(await resume(id, "all")).toMatchObject({ missed: 2, job: { state: "completed" } });
    expect(await h.ledger(id)).toMatchObject([{ reason: "paused", count: 2 }]);
  });

  it("and an instant within its jitter are noted when the rule changes [INV-11]", async () => {
    const id = await pausedBefore(1, { schedule: { ...every(h.last), jitterMs: period - 1_000 } });
    await edit(id, { schedule: yearly });
    expect(await h.ledger(id)).toEqual(only("paused", 2));
  });

  it("does not come back by an instant before it that the job is moved to [INV-1]", async () => {
    const id = await pausedBefore(3);
    await edit(id, { schedule: { kind: "at", at: h.last - period - 1_000 } });
    expect(await h.due(id)).toMatchObject({ fired_through: h.last });
    expect(await resume(id, "all")).toMatchObject({ missed: 0, job: { state: "completed", nextRunAt: null } });
  });
});

describe("a one-off job that nobody came to for days", () => {
  it("fires with its first change, however late: no policy says that it is missed [INV-11]", async () => {
    const { id } = await h.api.createJob("default", spec({ schedule: { kind: "at", at: h.last + 60_000 } }));
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
  it("goes to the job that has the key now", async () => {
    const key = newId();
    const first = await h.api.createJob("default", spec({ key }));
    const second = await h.api.createJob("default", spec());
    let changed: Promise<unknown> = Promise.resolve();
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [first.id]);
      changed = h.api.editJob("default", { key }, (job) => ({ ...job, payload: "new" }), actor);
      await untilLockWaits(h);
      await tx.query({ text: "update carillon.job_due set state = 'cancelled' where job_id = $1" }, [first.id]);
      await tx.query({ text: "update carillon.job set ended_at = now() where id = $1" }, [first.id]);
      await tx.query({ text: "update carillon.job set key = $2 where id = $1" }, [second.id, key]);
    });
    expect(await changed).toMatchObject({ id: second.id, payload: "new", version: 2 });
    expect(await h.api.getJob("default", { id: first.id })).toMatchObject({ payload: { n: 1 }, version: 1 });
  });
});
