import type { OverlapPolicy } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunNowRequest } from "../../../../src/index.js";
import {
  actor,
  type ChangeHarness,
  changeHarness,
  overlapping,
  period,
  spec,
  startRuns,
} from "../../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const runNow = (id: string, request: RunNowRequest = {}) => h.engine.jobs.runNow("default", { id }, request, actor);
const manual = async (overlap: OverlapPolicy): Promise<string> =>
  (await h.engine.jobs.create("default", spec(overlapping(overlap)))).id;
const statuses = async (id: string): Promise<unknown[]> => (await h.runs(id)).map((run) => run["state"]);

describe("a requested run", () => {
  it("gives a requested run an id of its own and does not move the schedule [INV-1]", async () => {
    const id = await h.recurring(overlapping("allow"));
    const [first, second] = [await runNow(id), await runNow(id)];
    expect(first).toMatchObject({ jobId: id, status: "queued", trigger: { kind: "run_now", id: first.id } });
    expect(second.id).not.toBe(first.id);
    expect(await h.due(id)).toMatchObject({ next_nominal_at: h.last, fired_through: null, version: 1, runs_made: 2 });
    expect((await h.engine.jobs.get("default", { id }))?.lastRun?.id).toBe(second.id);
    expect(await h.fire(id)).toMatchObject({ outcome: "fired" });
  });

  it("refuses the fire of a wheel that does not know of a requested run until the job is read again [INV-1]", async () => {
    const id = await h.recurring();
    await runNow(id);
    expect(await h.fire(id, { version: 1, nominal: h.last, runsMade: 0 })).toBeNull();
    expect(await h.fire(id)).toMatchObject({ outcome: "overlap" });
  });

  it("refuses a requested run under skip while another is live, and names that one", async () => {
    const id = await manual("skip");
    const live = await runNow(id);
    await expect(runNow(id)).rejects.toMatchObject({ code: "overlap_refused" });
    await expect(runNow(id)).rejects.toThrow(/run_[0-9a-z]{26} \(queued\)/);
    expect(await statuses(id)).toEqual(["queued"]);
    await h.db.query({ text: "delete from carillon.run where id = $1" }, [live.id]);
    expect((await runNow(id)).status).toBe("queued");
  });

  it("lets a requested run wait behind one run under queue_one, and behind all under queue_all", async () => {
    const [one, all] = [await manual("queue_one"), await manual("queue_all")];
    for (const id of [one, all]) await runNow(id);
    expect(await runNow(one)).toMatchObject({ status: "blocked", statusReason: "overlap" });
    await expect(runNow(one)).rejects.toMatchObject({ code: "overlap_refused" });
    for (let n = 0; n < 3; n++) expect((await runNow(all)).status).toBe("blocked");
  });

  it("replaces the other runs by a requested run under cancel_running", async () => {
    const id = await manual("cancel_running");
    const first = await runNow(id);
    const second = await runNow(id);
    expect(second.status).toBe("queued");
    expect(await h.engine.runs.get("default", first.id)).toMatchObject({
      status: "cancelled",
      statusReason: "cancelled_by_overlap",
    });
    await startRuns(h, id);
    expect((await runNow(id)).status).toBe("blocked");
    expect(await h.runs(id)).toMatchObject([{ id: second.id, cancel_reason: "cancelled_by_overlap" }, {}]);
  });

  it("ignores the overlap policy for a forced run", async () => {
    const id = await manual("skip");
    await runNow(id);
    expect((await runNow(id, { force: true })).status).toBe("queued");
    expect((await h.due(id))["run_ids"]).toHaveLength(2);
    await expect(runNow(id)).rejects.toMatchObject({ code: "overlap_refused" });
  });

  it("starts one run for many concurrent requests under skip", async () => {
    const id = await manual("skip");
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => runNow(id)));
    expect(answers.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect(await statuses(id)).toEqual(["queued"]);
  });

  it("takes the requested values of a run from the caller and the others from the job", async () => {
    const policy = { retry: { maxAttempts: 7, initialMs: 5 }, timeoutMs: 1_000 };
    const { id } = await h.engine.jobs.create(
      "default",
      spec({ policy, labels: { a: "1", b: "2" }, payload: { n: 1 } }),
    );
    const run = await runNow(id, {
      payload: { value: null },
      priority: 9,
      queue: "urgent",
      labels: { b: "3" },
      policy: { retry: { maxAttempts: 1 } },
    });
    expect(run).toMatchObject({
      payload: null,
      priority: 9,
      queue: "urgent",
      labels: { a: "1", b: "3" },
      maxAttempts: 1,
    });
    expect(run.policy).toEqual({ retry: { maxAttempts: 1, initialMs: 5 }, timeoutMs: 1_000 });
    const plain = await runNow(id, { force: true });
    expect(plain).toMatchObject({ payload: { n: 1 }, priority: 4, queue: "default", labels: { a: "1", b: "2" } });
  });

  it("makes a requested run of a paused or completed job", async () => {
    const id = await h.recurring({}, -1);
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    expect((await runNow(id)).status).toBe("queued");
    const at = h.last + period;
    const done = await h.engine.jobs.create(
      "default",
      spec({ schedule: { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC", endsAt: at } }),
    );
    expect(done.state).toBe("completed");
    expect((await runNow(done.id)).status).toBe("queued");
  });
});
