import { type OverlapPolicy, occurrenceRunId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobView } from "../../../../src/index.js";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  every,
  period,
  type Row,
  setDue,
} from "../../../harness/change-harness.js";
import { fireRow, termsOf, untilLockWaits } from "../../../harness/store-harness.js";
import type { DueJob, Fired } from "@carillon/store";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness(undefined, 3_000);
});
afterAll(() => h.close());

/** Each makes version 3 of a job whose version 2 has the payload "old", and whose version 1 had "first". */
const changes: Readonly<Record<string, (id: string) => Promise<JobView>>> = {
  pause: (id) => h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor),
  edit: (id) => h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: "new" }), actor),
  // The instant of the old rule is one of the new rule's as well.
  "edit of the rule": (id) =>
    h.engine.jobs.edit(
      "default",
      { id },
      (job) => ({ ...job, payload: "new", schedule: every(h.last, period / 2) }),
      actor,
    ),
  rollback: (id) => h.engine.jobs.rollback("default", { id }, 1, actor),
  cancellation: (id) => h.engine.jobs.cancel("default", { id }, { running: "keep" }, actor),
};
const newPayload: Readonly<Record<string, string>> = { edit: "new", "edit of the rule": "new", rollback: "first" };

/** due.fire writes the first, a job transaction the second. */
const overlaps = ["skip", "queue_one"] as const;
const cases = Object.keys(changes).flatMap((kind) => overlaps.map((overlap) => [kind, overlap] as const));

/** A job of version 2 whose next occurrence is the latest one, or the one after. */
async function jobAt(overlap: OverlapPolicy, isDue: boolean): Promise<string> {
  const id = await h.recurring({ payload: "first", firing: { overlap } }, -1);
  await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: "old" }), actor);
  if (isDue) await setDue(h, id, h.last);
  return id;
}

/** The job as a wheel holds it that read it now. */
async function wheelOf(id: string): Promise<DueJob> {
  const { shard } = await h.due(id);
  const jobs = await h.store.fires.load([Number(shard)], h.last + 10 * period, 1_000);
  const job = jobs.find((one) => one.jobId === id);
  if (job === undefined) throw new Error("the wheel does not hold the job");
  return job;
}

/** Fires what a wheel believes to be due. */
async function fire(job: DueJob): Promise<readonly Fired[]> {
  const row = fireRow(job, job.nominal + period);
  const { overlap } = job.definition.firing;
  if (overlap === "skip") return h.store.fires.fire(termsOf(h.fence), [row]);
  return (await h.store.fires.settle(termsOf(h.fence), [row])).fired;
}

/** Every run of the job at the instant, with its ledger. */
async function outcome(id: string): Promise<{ runs: unknown[]; ledger: Row[] }> {
  const runs = [...(await h.runs(id)), ...(await h.history(id))];
  expect(runs.every((run) => run["nominal_at"] === h.last)).toBe(true);
  return { runs: runs.map((run) => [run["version"], run["payload"]]), ledger: await h.ledger(id) };
}

const byTheOld = { runs: [[2, "old"]], ledger: [] };

describe.each(cases)("a %s of a job whose overlap policy is %s", (kind, overlap) => {
  const change = (id: string): Promise<JobView> => {
    const make = changes[kind];
    if (make === undefined) throw new Error(`no change ${kind}`);
    return make(id);
  };

  it("decides the instant by the new rule if it commits before it, and refuses the fire of a stale wheel [INV-1] [INV-11]", async () => {
    const id = await jobAt(overlap, false);
    const stale = await wheelOf(id);
    const job = await change(id);
    expect(job.version).toBe(3);
    const hasNext = job.nextRunAt !== null;
    expect(hasNext).toBe(newPayload[kind] !== undefined);
    // The instant comes.
    if (hasNext) await setDue(h, id, h.last);
    expect(await fire({ ...stale, nominal: h.last, fireAt: h.last })).toEqual([]);
    expect(await outcome(id)).toEqual({ runs: [], ledger: [] });
    if (!hasNext) return;
    expect(await fire(await wheelOf(id))).toMatchObject([{ outcome: "fired" }]);
    expect(await outcome(id)).toEqual({ runs: [[3, newPayload[kind]]], ledger: [] });
  });

  it("makes the old rule's run after the instant and before its fire, and the fire makes none [INV-1] [INV-11]", async () => {
    const id = await jobAt(overlap, true);
    const stale = await wheelOf(id);
    expect((await change(id)).version).toBe(3);
    expect(await outcome(id)).toEqual(byTheOld);
    expect(await fire(stale)).toEqual([]);
    expect(await outcome(id)).toEqual(byTheOld);
  });

  it("leaves the instant as it is after its fire [INV-1] [INV-11]", async () => {
    const id = await jobAt(overlap, true);
    const wheel = await wheelOf(id);
    expect(await fire(wheel)).toMatchObject([{ outcome: "fired" }]);
    expect((await change(id)).version).toBe(3);
    expect(await fire(wheel)).toEqual([]);
    expect(await outcome(id)).toEqual(byTheOld);
  });

  it("waits for a fire under way [INV-1] [INV-11]", async () => {
    const id = await jobAt(overlap, true);
    const wheel = await wheelOf(id);
    const both: Promise<unknown>[] = [];
    const stay = new Error("rolled back");
    const done = h.db.transaction(async (tx) => {
      // Another transaction inserts the same run: the fire holds the job's row and waits for the end of that transaction.
      await tx.query(
        {
          text: `insert into carillon.run (id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                                           trigger, task, queue)
                 values ($1, 1, 0, 1, 'queued', 4, 0, now(), now(), now(), 'schedule', 'echo', 'default')`,
        },
        [occurrenceRunId(id, h.last, "schedule")],
      );
      both.push(fire(wheel));
      await untilLockWaits(h);
      both.push(change(id));
      await untilLockWaits(h, 2);
      throw stay;
    });
    await expect(done).rejects.toBe(stay);
    expect(await Promise.all(both)).toMatchObject([[{ outcome: "fired" }], { version: 3 }]);
    expect(await outcome(id)).toEqual(byTheOld);
  });

  it("decides the instant while it is under way, and the concurrent fire does nothing [INV-1] [INV-11]", async () => {
    const id = await jobAt(overlap, true);
    const wheel = await wheelOf(id);
    let changed: Promise<unknown> = Promise.resolve();
    await h.db.transaction(async (tx) => {
      // The change has the row of job_due and waits for that of job.
      await tx.query({ text: "select 1 from carillon.job where id = $1 for update" }, [id]);
      changed = change(id);
      await untilLockWaits(h);
      expect(await fire(wheel)).toEqual([]);
    });
    expect(await changed).toMatchObject({ version: 3 });
    expect(await fire(wheel)).toEqual([]);
    expect(await outcome(id)).toEqual(byTheOld);
  });
});

describe("a pause just before an instant", () => {
  it("adds an instant just after the begin of a pause to the ledger, without a run [INV-11]", async () => {
    const id = await jobAt("skip", false);
    await changes["pause"]?.(id);
    // The instant comes: it is the first that the pause swallows.
    const text =
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1";
    await h.db.query({ text }, [id, h.last - 1]);
    expect(await h.engine.jobs.resume("default", { id }, { missed: "none" }, actor)).toMatchObject({ missed: 1 });
    expect(await outcome(id)).toEqual({
      runs: [],
      ledger: [{ version: 3, reason: "paused", from_at: h.last, to_at: h.last, count: 1 }],
    });
  });
});
