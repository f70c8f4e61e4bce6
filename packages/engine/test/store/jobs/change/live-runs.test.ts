import type { OverlapPolicy } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OverlapAdmitter } from "../../../../src/jobs/transaction/overlap-admitter.js";
import type { Queued } from "@carillon/store";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  overlapping,
  spec,
  startRuns,
} from "../../../harness/change-harness.js";
import { testContext } from "../../../harness/test-context.js";
import { newId, untilLockWaits } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const runNow = (id: string, force = false) => h.engine.jobs.runNow("default", { id }, { force }, actor);
const cancel = (id: string) => h.engine.jobs.cancel("default", { id }, { running: "signal" }, actor);
const setOverlap = (id: string, overlap: OverlapPolicy) =>
  h.engine.jobs.edit("default", { id }, (job) => ({ ...job, firing: { overlap } }), actor);
const states = async (id: string): Promise<unknown[]> => (await h.runs(id)).map((run) => run["state"]);

/** A job with one running run and two that wait behind it. */
async function waiting(): Promise<string> {
  const { id } = await h.engine.jobs.create("default", spec(overlapping("queue_all")));
  await runNow(id);
  await startRuns(h, id);
  for (let n = 0; n < 2; n++) await runNow(id);
  return id;
}

/** Admits as the loop of a node that received the wakeup of this job; returns the runs that may start. */
async function admit(id: string): Promise<Queued[]> {
  const started: Queued[] = [];
  const context = testContext({ database: h.db, clock: { now: Date.now, monotonic: () => 0 }, shards: [] });
  context.wakeups.runsQueued = (queued) => void started.push(...queued);
  const admitter = new OverlapAdmitter(context, { unitOfWork: h.store.unitOfWork });
  admitter.hint([id]);
  await admitter.tick();
  return started;
}

describe("an edit of a job whose runs wait for one another", () => {
  it("starts all waiting runs when an edit allows overlap", async () => {
    const id = await waiting();
    await setOverlap(id, "allow");
    expect(await states(id)).toEqual(["running", "queued", "queued"]);
    expect((await h.runs(id)).map((run) => [run["untracked"], run["state_reason"]])).toEqual([
      [true, null],
      [true, null],
      [true, null],
    ]);
  });

  it("cancels all runs of a job whose edit allowed overlap", async () => {
    const id = await waiting();
    await setOverlap(id, "allow");
    await runNow(id);
    await cancel(id);
    expect(await h.runs(id)).toMatchObject([{ state: "running", cancel_reason: "cancelled_by_job" }]);
    expect((await h.history(id)).map((run) => run["status"])).toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  it.each(["skip", "queue_one", "cancel_running"] as const)(
    "keeps waiting runs in their order when an edit changes the policy to %s",
    async (to) => {
      const id = await waiting();
      await setOverlap(id, to);
      expect(await states(id)).toEqual(["running", "blocked", "blocked"]);
      expect(await admit(id)).toEqual([]);
      const [running, second, third] = await h.runs(id);
      await h.db.query({ text: "delete from carillon.run where id = $1" }, [running?.["id"]]);
      expect((await admit(id)).map((run) => run.id)).toEqual([second?.["id"]]);
      await h.db.query({ text: "delete from carillon.run where id = $1" }, [second?.["id"]]);
      expect((await admit(id)).map((run) => run.id)).toEqual([third?.["id"]]);
    },
  );

  it("counts the live runs when an edit changes the policy from allow to skip", async () => {
    const { id } = await h.engine.jobs.create("default", spec(overlapping("allow")));
    for (let n = 0; n < 3; n++) await runNow(id);
    await setOverlap(id, "skip");
    expect((await h.due(id))["run_ids"]).toHaveLength(3);
    await expect(runNow(id)).rejects.toMatchObject({ code: "overlap_refused" });
  });
});

describe("the cancellation of a job", () => {
  it("ends runs that wait for another run, for a retry or for a worker when their job is cancelled", async () => {
    const { id } = await h.engine.jobs.create("default", spec(overlapping("queue_all")));
    for (let n = 0; n < 2; n++) await runNow(id);
    const retrying = await runNow(id, true);
    await h.db.query(
      { text: "update carillon.run set state = 'retrying', run_at = now() + interval '1 hour' where id = $1" },
      [retrying.id],
    );
    expect(new Set(await states(id))).toEqual(new Set(["blocked", "queued", "retrying"]));
    await cancel(id);
    expect(await states(id)).toEqual([]);
    const ends = (await h.history(id)).map((run) => [run["status"], run["status_reason"]]);
    expect(ends).toEqual(Array.from({ length: 3 }, () => ["cancelled", "cancelled_by_job"]));
  });

  it("ends all waiting runs of a cancelled job, also more than one transaction ends [INV-12]", async () => {
    const { id } = await h.engine.jobs.create("default", spec(overlapping("allow")));
    const first = await runNow(id);
    await h.db.query(
      {
        text: `insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at,
                                         created_at, trigger, task, queue, payload, version, untracked)
               select gen_random_uuid(), job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at,
                      created_at, 'run_now:' || n, task, queue, payload, version, untracked
               from carillon.run, generate_series(1, 10500) as n where id = $1`,
      },
      [first.id],
    );
    expect(await cancel(id)).toMatchObject({ state: "cancelled", version: 2 });
    expect(await h.runs(id)).toEqual([]);
    const [{ ended } = {}] = await h.select(
      "select count(*)::int as ended from carillon.run_history where job_id = $1 and status = 'cancelled'",
      id,
    );
    expect(ended).toBe(10_501);
  });

  it("does not deadlock the cancellation of a job with the ends of its runs", async () => {
    const [low = "", middle = "", high = ""] = [newId(), newId(), newId()].toSorted();
    const session = await h.session();
    for (const id of [low, middle, high]) await h.run({ id });
    const text =
      "update carillon.run set state = 'running', session_id = $1, fence = 1, claimed_at = now() where id = any ($2)";
    await h.db.query({ text }, [session, [low, middle, high]]);
    const what = { status: "succeeded", reason: null, output: "1", error: null, startedAt: h.last } as const;
    const done = { session, fence: 1, ...what };
    let finish: ReturnType<typeof h.store.claims.finish> = Promise.resolve(new Map());
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.run where id = $1 for update" }, [middle]);
      finish = h.store.claims.finish([high, middle, low].map((id) => ({ id, ...done })));
      await untilLockWaits(h);
      const free = await h.select("select id from carillon.run where id = any ($1) for update skip locked", [
        low,
        high,
      ]);
      expect(free).toEqual([{ id: high }]);
    });
    expect([...(await finish).keys()]).toEqual([low, middle, high]);
  });
});
