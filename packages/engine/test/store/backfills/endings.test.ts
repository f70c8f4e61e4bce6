import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BackfillHarness, backfillHarness } from "../../harness/backfill-harness.js";
import { actor, overlapping, period, startRuns } from "../../harness/change-harness.js";

let h: BackfillHarness;
beforeAll(async () => {
  h = await backfillHarness();
});
afterAll(() => h.close());

const allowing = overlapping("allow");
const runNow = (id: string) => h.engine.jobs.runNow("default", { id }, { force: true }, actor);
const endNewest = async (id: string): Promise<void> => {
  const run = (await h.runs(id)).at(-1);
  await h.select("delete from carillon.run where id = $1", run?.["id"]);
};

describe("the overlap policy in a backfill", () => {
  it("makes one run after the other under skip, and skips none because of its own runs", async () => {
    const job = await h.settledJob(overlapping("skip"));
    const { id } = await h.start(job, 3);
    for (const place of [2, 1, 0]) {
      await h.drain();
      expect(await h.places(job)).toEqual([place]);
      await endNewest(job);
    }
    expect(await h.get(id)).toMatchObject({ state: "done", made: 3, skipped: 0 });
  });

  it("skips instants under skip while another run is live, at its rate, with a ledger entry", async () => {
    const job = await h.settledJob(overlapping("skip"));
    const other = await runNow(job);
    const { id } = await h.start(job, 4, { perSecond: 10 });
    for (let step = 0; step < 2; step += 1, h.time.now += 100) await h.node.runner.tick();
    expect(await h.get(id)).toMatchObject({ made: 0, skipped: 2 });
    await h.select("delete from carillon.run where id = $1", other.id);
    await h.drain();
    await endNewest(job);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 2, skipped: 2 });
    expect(await h.ledger(job)).toMatchObject([
      { reason: "overlap", from_at: h.last - 3 * period, count: 1 },
      { reason: "overlap", from_at: h.last - 2 * period, count: 1 },
    ]);
  });

  it("is ignored with force", async () => {
    const job = await h.settledJob(overlapping("skip"));
    await runNow(job);
    const { id } = await h.start(job, 3, { force: true });
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 3, skipped: 0 });
    expect(await h.runs(job)).toHaveLength(4);
  });

  it("queues runs under queue_all, the oldest first, up to the concurrency", async () => {
    const job = await h.settledJob(overlapping("queue_all"));
    await h.start(job, 5, { concurrency: 3 });
    await h.drain();
    expect((await h.runs(job)).map((run) => run["state"])).toEqual(["queued", "blocked", "blocked"]);
    expect(await h.places(job)).toEqual([4, 3, 2]);
  });

  it("queues one run under queue_one until another ends", async () => {
    const job = await h.settledJob(overlapping("queue_one"));
    await runNow(job);
    await h.start(job, 3);
    await h.drain();
    expect((await h.runs(job)).map((run) => run["state"])).toEqual(["blocked", "queued"]);
  });

  it("cancels other runs under cancel_running, but not its own", async () => {
    const job = await h.settledJob(overlapping("cancel_running"));
    const other = await runNow(job);
    await startRuns(h, job);
    const { id } = await h.start(job, 2);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ made: 1 });
    const states = (await h.runs(job)).map((run) => [run["id"] === other.id, run["state"], run["cancel_reason"]]);
    expect(states).toEqual([
      [false, "blocked", null],
      [true, "running", "cancelled_by_overlap"],
    ]);
  });
});

describe("the abort of a backfill", () => {
  it("makes no more runs, does not cancel those made, and can be repeated", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 5, { perSecond: 10 });
    await h.node.runner.tick();
    const aborted = await h.engine.backfills.abort("default", id, { actor: "ann" });
    expect(aborted).toMatchObject({ state: "aborted", reason: "asked by ann", made: 1 });
    expect(aborted?.finishedAt).toBeTypeOf("number");
    await h.drain();
    expect(await h.places(job)).toEqual([4]);
    expect(await h.engine.backfills.abort("default", id, actor)).toEqual(aborted);
    expect(await h.engine.backfills.abort("default", h.fence.node, actor)).toBeNull();
  });

  it("changes nothing when the backfill is done", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 2);
    await h.drain();
    const done = await h.get(id);
    expect(await h.engine.backfills.abort("default", id, actor)).toEqual(done);
  });

  it("happens at once when the job is cancelled", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 5, { perSecond: 10 });
    await h.node.runner.tick();
    await h.engine.jobs.cancel("default", { id: job }, { running: "signal" }, actor);
    expect(await h.get(id)).toMatchObject({ state: "aborted", reason: "job_cancelled", made: 1 });
    await h.drain();
    expect(await h.runs(job)).toEqual([]);
  });

  it("happens with the next step when a node of another version cancelled the job", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 5);
    await h.select("update carillon.job set ended_at = clock_timestamp() where id = $1", job);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "aborted", reason: "job_cancelled", made: 0 });
    expect(h.node.events.at(-1)).toMatchObject({ type: "backfill.ended", state: "aborted", reason: "job_cancelled" });
  });
});

describe("backfills of a job", () => {
  it("are listed newest first, in pages, only in their own namespace [INV-7]", async () => {
    const job = await h.settledJob(allowing);
    const ids: string[] = [];
    for (let count = 1; count <= 3; count += 1) ids.unshift((await h.start(job, count)).id);
    const first = await h.engine.backfills.list("default", { id: job }, { pageSize: 2 });
    const second = await h.engine.backfills.list("default", { id: job }, { pageSize: 2, after: first.next ?? "" });
    expect([...first.rows, ...second.rows].map((one) => one.id)).toEqual(ids);
    expect(second.next).toBeNull();
    await h.select("insert into carillon.namespace (name) values ('elsewhere')");
    const [newest = ""] = ids;
    expect(await h.engine.backfills.get("elsewhere", newest)).toBeNull();
    expect(await h.engine.backfills.abort("elsewhere", newest, actor)).toBeNull();
    expect(await h.get(newest)).toMatchObject({ state: "running" });
    await expect(h.engine.backfills.list("elsewhere", { id: job }, { pageSize: 2 })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
