import type { OverlapPolicy } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine, RunView } from "../../../../src/index.js";
import { actor, overlapping, spec } from "../../../harness/change-harness.js";
import { EngineHarness, JournalTask } from "../../../harness/engine-harness.js";

let h: EngineHarness;
let node: Engine;
let journal: JournalTask;

beforeEach(async () => {
  h = await EngineHarness.create();
  node = await h.startNode();
  journal = new JournalTask("echo", () => h.checkConditions());
});
afterEach(() => h.close());

const job = async (overlap: OverlapPolicy): Promise<string> =>
  (await node.jobs.create("default", spec(overlapping(overlap)))).id;
const runNow = (id: string): Promise<RunView> => node.jobs.runNow("default", { id }, {}, actor);
const status = async (id: string): Promise<unknown> => {
  const run = await node.runs.get("default", id);
  return [run?.status, run?.statusReason];
};

describe("runs of a job that wait for one another", () => {
  it("starts waiting runs of a job one after the other, oldest first [INV-6]", async () => {
    await h.startWorker(node, journal.task);
    const id = await job("queue_all");
    const runs: RunView[] = [];
    for (let n = 0; n < 4; n++) runs.push(await runNow(id));
    // The worker may have the first by the time it is answered.
    expect(runs.slice(1).map((run) => run.status)).toEqual(["blocked", "blocked", "blocked"]);
    for (const number of [1, 2, 3, 4]) {
      await h.until(() => journal.begun === number);
      journal.end(number);
    }
    await h.until(() => h.countEnds() === 4);
    expect(journal.hasOverlap).toBe(false);
    const ended = await Promise.all(runs.map((run) => node.runs.get("default", run.id)));
    const begins = ended.map((run) => run?.startedAt ?? 0);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
  });

  it("keeps runs waiting while the run before moves to another worker", async () => {
    const worker = await h.startWorker(node, journal.task);
    const id = await job("queue_one");
    const first = await runNow(id);
    await h.until(() => journal.begun === 1);
    const second = await runNow(id);
    await worker.stop(0);
    expect(await status(first.id)).toEqual(["queued", null]);
    expect(await status(second.id)).toEqual(["blocked", "overlap"]);
    await h.startWorker(node, journal.task);
    await h.until(() => journal.begun === 2);
    journal.end(2);
    await h.until(() => journal.begun === 3);
    journal.end(3);
    await h.until(() => h.countEnds() === 2);
    expect(await status(second.id)).toEqual(["succeeded", null]);
  });

  it("finds waiting runs in the sweep of their shard's owner when the wakeup was lost [INV-6]", async () => {
    await h.startWorker(node, journal.task);
    const id = await job("queue_all");
    const first = await runNow(id);
    await h.until(() => journal.begun === 1);
    await runNow(id);
    await h.database.query({ text: "delete from carillon.run where id = $1" }, [first.id]);
    await h.until(() => journal.begun === 2);
    expect(journal.begun).toBe(2);
  });

  it("admits the waiting runs of many jobs once although every node is notified and sweeps", async () => {
    const other = await h.startNode("second");
    await h.startWorker(node, journal.task);
    await h.startWorker(other, journal.task);
    const ids = await Promise.all(Array.from({ length: 10 }, () => job("queue_all")));
    for (const id of ids) for (let n = 0; n < 3; n++) await runNow(id);
    for (let number = 1; number <= 30; number++) {
      await h.until(() => journal.begun >= number);
      journal.end(number);
    }
    await h.until(() => h.countEnds() === 30);
    expect(journal.begun).toBe(30);
  });
});

describe("a run that replaces another", () => {
  it("starts the replacing run when the worker of the replaced run has stopped it [INV-6]", async () => {
    await h.startWorker(node, journal.task);
    const id = await job("cancel_running");
    const first = await runNow(id);
    await h.until(() => journal.begun === 1);
    const second = await runNow(id);
    expect(second.status).toBe("blocked");
    await h.until(() => journal.begun === 2);
    expect(journal.entries).toEqual(["begin 1", "stop 1", "begin 2"]);
    expect(await status(first.id)).toEqual(["cancelled", "cancelled_by_overlap"]);
  });
});

describe("the cancellation of a job", () => {
  it("stops the run of a cancelled job on a worker of another node", async () => {
    const other = await h.startNode("second");
    await h.startWorker(other, journal.task);
    const id = await job("skip");
    const run = await runNow(id);
    await h.until(() => journal.begun === 1);
    await node.jobs.cancel("default", { id }, { running: "signal" }, actor);
    await h.until(() => h.countEnds() === 1);
    expect(journal.entries).toEqual(["begin 1", "stop 1"]);
    expect(String(journal.signals.get(1)?.reason)).toContain("cancelled_by_job");
    expect(await status(run.id)).toEqual(["cancelled", "cancelled_by_job"]);
    const ended = await node.jobs.get("default", { id });
    expect(ended).toMatchObject({ state: "cancelled", lastRun: { status: "cancelled" } });
  });

  it("records the success of a handler that finishes although its job was cancelled", async () => {
    const deaf = new Promise<AbortSignal>((resolve) => {
      void h.startWorker(node, {
        name: "echo",
        run: (_payload, { signal }) =>
          new Promise((done) => {
            signal.addEventListener("abort", () => done("done"), { once: true });
            resolve(signal);
          }),
      });
    });
    const id = await job("skip");
    const run = await runNow(id);
    await deaf;
    await node.jobs.cancel("default", { id }, { running: "signal" }, actor);
    await h.until(() => h.countEnds() === 1);
    expect(await status(run.id)).toEqual(["succeeded", null]);
  });

  it("ends a run of a cancelled job that its worker released before it received the stop", async () => {
    const worker = await h.startWorker(node, journal.task);
    const id = await job("skip");
    const run = await runNow(id);
    await h.until(() => journal.begun === 1);
    const text = "update carillon.run set cancel_reason = 'cancelled_by_job' where id = $1";
    await h.database.query({ text }, [run.id]);
    await worker.stop(0);
    expect(await status(run.id)).toEqual(["cancelled", "cancelled_by_job"]);
  });

  it("ends a claimed run that was requested to stop before the claim [INV-4]", async () => {
    const id = await job("skip");
    const run = await runNow(id);
    const text = "update carillon.run set cancel_reason = 'cancelled_by_job' where id = $1";
    await h.database.query({ text }, [run.id]);
    await h.startWorker(node, journal.task);
    const next = await node.jobs.create(
      "default",
      spec({ schedule: { kind: "at", at: 0 }, firing: { misfire: "run_once" } }),
    );
    await h.until(() => journal.begun === 1 && h.countEnds() === 1);
    expect(await status(run.id)).toEqual(["cancelled", "cancelled_by_job"]);
    expect(await status(next.id)).toEqual(["running", null]);
  });
});
