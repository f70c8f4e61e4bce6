import type { OverlapPolicy } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fireOccurrences } from "../../../../src/jobs/transaction/fire-occurrences.js";
import type { Fence } from "@carillon/store";
import { newId, type StoreHarness, storeHarness } from "../../../harness/store-harness.js";

let h: StoreHarness;
let fence: Fence;
beforeAll(async () => {
  h = await storeHarness();
  fence = await h.takeAll(newId());
});
afterAll(() => h.close());

const minute = 60_000;
const begin = Math.floor(Date.now() / minute) * minute - 10 * minute;

async function job(overlap: OverlapPolicy, over: { maxRuns?: number } = {}): Promise<string> {
  const maxRuns = over.maxRuns ?? null;
  return (await h.job({ overlap, maxRuns, nextNominal: begin, nextFireAt: begin })).jobId;
}

/** Fires the nth occurrence of each job, and goes on to the one after. */
async function fire(ids: readonly string[], nth: number, runsMade: number) {
  const nominal = begin + nth * minute;
  const next = { nominal: nominal + minute, fireAt: nominal + minute };
  const rows = ids.map((jobId) => ({ jobId, version: 1, nominal, runsMade, next }));
  return h.store.historyTransaction((tx) => fireOccurrences(h.store.unitOfWork, tx, { fence, windows: null, rows }));
}

async function select(text: string, jobId: string): Promise<Record<string, unknown>[]> {
  return (await h.db.query({ text }, [jobId])).rows;
}
const runs = (jobId: string) =>
  select(
    "select id, state, cancel_reason, serial, version from carillon.run where job_id = $1 order by nominal_at",
    jobId,
  );
const ledger = (jobId: string) =>
  select("select reason, from_at, to_at, count from carillon.occurrence where job_id = $1 order by from_at", jobId);
const ended = (jobId: string) =>
  select(
    "select status, status_reason, version from carillon.run_history where job_id = $1 order by nominal_at",
    jobId,
  );
const run = (jobId: string, state: "running" | "queued"): Promise<unknown> =>
  h.db.query(
    {
      text: "update carillon.run set state = $2, session_id = case $2 when 'running' then gen_random_uuid() end where job_id = $1 and state <> 'blocked'",
    },
    [jobId, state],
  );

describe("a due occurrence while a run of the job is live", () => {
  it("lets one occurrence wait under queue_one and adds the next ones to the ledger as one growing range [INV-11]", async () => {
    const id = await job("queue_one");
    const first = await fire([id], 0, 0);
    expect(first.outcomes).toMatchObject([{ jobId: id, outcome: "fired", due: { runsMade: 1, firedCount: 1 } }]);
    expect((await fire([id], 1, 1)).outcomes).toMatchObject([{ outcome: "blocked", run: { state: "blocked" } }]);
    expect((await fire([id], 2, 2)).outcomes).toMatchObject([{ outcome: "overlap", run: null }]);
    const last = await fire([id], 3, 2);
    expect(last.outcomes[0]?.due.runIds).toHaveLength(2);
    expect(await runs(id)).toMatchObject([
      { state: "queued", serial: true, version: 1 },
      { state: "blocked", serial: true },
    ]);
    expect(await ledger(id)).toEqual([
      { reason: "overlap", from_at: begin + 2 * minute, to_at: begin + 3 * minute, count: 2 },
    ]);
  });

  it("lets an occurrence wait under queue_all behind any number of runs", async () => {
    const id = await job("queue_all");
    for (let nth = 0; nth < 4; nth++) await fire([id], nth, nth);
    expect((await runs(id)).map((one) => one["state"])).toEqual(["queued", "blocked", "blocked", "blocked"]);
  });

  it("ends waiting runs and stops the running one under cancel_running", async () => {
    const id = await job("cancel_running");
    await fire([id], 0, 0);
    expect((await fire([id], 1, 1)).outcomes[0]?.outcome).toBe("fired");
    expect(await ended(id)).toEqual([{ status: "cancelled", status_reason: "cancelled_by_overlap", version: 1 }]);
    await run(id, "running");
    const third = await fire([id], 2, 2);
    expect(third.outcomes[0]?.outcome).toBe("blocked");
    expect(third.applied.stopped).toHaveLength(1);
    expect(await runs(id)).toMatchObject([
      { state: "running", cancel_reason: "cancelled_by_overlap" },
      { state: "blocked", cancel_reason: null },
    ]);
  });

  it("decides occurrences of many jobs at once, each by the live runs of its job", async () => {
    const ids = [await job("queue_one"), await job("cancel_running"), await job("skip"), await job("allow")];
    await fire(ids, 0, 0);
    const { outcomes } = await fire(ids, 1, 1);
    const byJob = new Map(outcomes.map((one) => [one.jobId, one.outcome]));
    expect(ids.map((id) => byJob.get(id))).toEqual(["blocked", "fired", "overlap", "fired"]);
  });
});

describe("the fire of an occurrence whose job's runs may wait", () => {
  it("refuses the fire of a wheel that does not know of a new run [INV-1]", async () => {
    const id = await job("queue_one");
    await h.db.query({ text: "update carillon.job_due set runs_made = 1 where job_id = $1" }, [id]);
    expect((await fire([id], 0, 0)).outcomes).toEqual([]);
    expect((await fire([id], 0, 1)).outcomes).toHaveLength(1);
  });

  it("refuses a fire under an old epoch [INV-2]", async () => {
    const id = await job("queue_one");
    const old = fence;
    const taken = await h.takeAll(newId());
    expect((await fire([id], 0, 0)).outcomes).toEqual([]);
    fence = taken;
    expect((await fire([id], 0, 0)).outcomes).toHaveLength(1);
    expect(old).not.toEqual(fence);
  });

  it("refuses a fire that was planned with older maintenance windows", async () => {
    const id = await job("queue_one");
    const next = { nominal: begin + minute, fireAt: begin + minute };
    const row = { jobId: id, version: 1, nominal: begin, runsMade: 0, next };
    const asked = (windows: number) =>
      h.store.historyTransaction((tx) => fireOccurrences(h.store.unitOfWork, tx, { fence, windows, rows: [row] }));
    await h.db.query({ text: "update carillon.revision set value = 7 where name = 'windows'" });
    expect((await asked(6)).outcomes).toEqual([]);
    expect((await asked(7)).outcomes).toHaveLength(1);
  });

  it("completes a job with its last run", async () => {
    const id = await job("queue_one", { maxRuns: 1 });
    const { outcomes } = await fire([id], 0, 0);
    expect(outcomes[0]?.due).toMatchObject({ state: "completed", nominal: null, fireAt: null });
  });

  it("adds an occurrence to the ledger as a duplicate if its run exists already [INV-1]", async () => {
    const id = await job("queue_all");
    await fire([id], 0, 0);
    await h.db.query(
      {
        text: "update carillon.job_due set next_nominal_at = $2, next_fire_at = $2, fired_through = null where job_id = $1",
      },
      [id, new Date(begin).toISOString()],
    );
    expect((await fire([id], 0, 1)).outcomes).toMatchObject([{ outcome: "duplicate", run: null }]);
    expect(await runs(id)).toHaveLength(1);
    expect(await ledger(id)).toMatchObject([{ reason: "duplicate", count: 1 }]);
  });
});
