import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId, type StoreHarness, storeHarness } from "../../../harness/store-harness.js";
import type { DueJob } from "@carillon/store";

let h: StoreHarness;
beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());

const read = async (jobs: readonly DueJob[]): Promise<(DueJob | undefined)[]> => {
  const loaded = await h.store.fires.load([...new Set(jobs.map((job) => job.shard))], Date.now(), 100);
  return jobs.map(({ jobId }) => loaded.find((one) => one.jobId === jobId));
};

const update = (set: string, id: string) => h.db.query({ text: `update carillon.job set ${set} where id = $1` }, [id]);

/** Jobs of one shard: they are read together. */
async function equalJobs(count: number): Promise<DueJob[]> {
  const shard = 1_000;
  return Promise.all(Array.from({ length: count }, () => h.job({ id: newId(), shard, task: "same" })));
}

describe("due.load", () => {
  it("jobs with equal definitions share one definition object and keep their own id and shard", async () => {
    const jobs = [...(await equalJobs(3)), await h.job({ shard: 1_001, task: "same" })];
    const loaded = await read(jobs);
    expect(loaded.map((job) => job?.shard)).toEqual([1_000, 1_000, 1_000, 1_001]);
    expect(new Set(loaded.map((job) => job?.definition)).size).toBe(1);
    expect(loaded[0]?.definition).toEqual(jobs[0]?.definition);
  });

  it.each([
    ["task", "task = 'other'", { task: "other" }],
    ["queue", "queue = 'other'", { queue: "other" }],
    ["priority", "priority = 6", { priority: 6 }],
    ["labels", `labels = '{"team": "ops"}'`, { labels: { team: "ops" } }],
    ["firing", `firing = '{"misfireThresholdMs": 5}'`, { firing: { misfireThresholdMs: 5 } }],
    ["deadline", `policy = '{"deadlineMs": 9}'`, { deadlineMs: 9 }],
    ["schedule", `schedule = '{"kind": "every", "everyMs": 1000}'`, { schedule: { kind: "every", everyMs: 1_000 } }],
  ])("a job whose %s was changed is loaded with its new definition, and the others with theirs", async (...args) => {
    const [, set, definition] = args;
    const jobs = await equalJobs(3);
    await update(set, jobs[1]?.jobId ?? "");
    const loaded = await read(jobs);
    expect(loaded[1]).toMatchObject({ definition });
    for (const other of [loaded[0], loaded[2]]) expect(other?.definition).toEqual(jobs[0]?.definition);
  });

  it("the loaded definition has the time since which it is in force", async () => {
    const jobs = await equalJobs(2);
    const at = Date.now() + 60_000;
    await update(`defined_at = '${new Date(at).toISOString()}'`, jobs[0]?.jobId ?? "");
    const [redefined, other] = await read(jobs);
    expect(redefined?.settledTo).toBe(at);
    expect(other?.settledTo).toBeLessThan(at);
  });

  it("a job without a definition key does not share its definition with others", async () => {
    const jobs = await equalJobs(3);
    const ids = jobs.map((job) => job.jobId);
    await update("task = 'other'", ids[1] ?? "");
    const text = "update carillon.job_due set definition = null where job_id = any ($1::uuid[])";
    await h.db.query({ text }, [ids]);
    expect((await read(jobs)).map((job) => job?.definition.task)).toEqual(["same", "other", "same"]);
  });
});
