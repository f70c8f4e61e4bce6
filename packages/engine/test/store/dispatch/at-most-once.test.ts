import { LocalTransport, Worker } from "@carillon/worker";
import type { JobSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EngineHarness, JournalTask } from "../../harness/engine-harness.js";
import { hostPorts } from "../../harness/store-harness.js";

let h: EngineHarness;
beforeEach(async () => {
  h = await EngineHarness.create();
});
afterEach(() => h.close());

const spec = (over: Partial<JobSpec> = {}): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: null,
  schedule: { kind: "at", at: Date.now() - 1_000 },
  policy: { guarantee: "at_most_once" },
  labels: {},
  ...over,
});

const running = async (): Promise<number> =>
  (await h.database.query({ text: "select 1 from carillon.run where state = 'running'" })).rowCount;

describe("at-most-once runs", () => {
  it("an at-most-once run is assigned only to a free slot, and never waits at a worker [INV-6]", async () => {
    const engine = await h.startNode();
    const journal = new JournalTask("work", () => h.checkConditions());
    for (let number = 0; number < 5; number++) await engine.jobs.create("default", spec());
    const transport = new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId });
    const timers = { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate };
    const what = { transport, timers, tasks: [journal.task], name: "w", queues: ["default"], slots: 2, ahead: 100 };
    const worker = new Worker(what);
    await worker.start();
    for (let number = 1; number <= 5; number++) {
      await h.until(() => journal.begun >= Math.min(5, number + 1));
      expect(await running()).toBe(Math.min(2, 6 - number));
      journal.end(number);
      await h.until(() => h.countEnds() === number);
    }
    expect(journal.begun).toBe(5);
    await worker.stop(0);
  });

  it("an at-most-once run fails when its worker is lost, and is not started again [INV-4]", async () => {
    const engine = await h.startNode();
    const journal = new JournalTask("work", () => h.checkConditions());
    await h.startWorker(engine, journal.task);
    const job = await engine.jobs.create("default", spec());
    await h.until(() => journal.begun === 1);
    // As if the worker's process had been killed and its session declared dead: its row is gone before any of its runs ends.
    await h.database.query({ text: "delete from carillon.worker_session" });
    for (;;) {
      const run = await engine.runs.get("default", job.id);
      if (run?.status === "running") continue;
      const error = { type: "WorkerLost" };
      expect(run).toMatchObject({ status: "failed", statusReason: "worker_lost", attempt: 0, losses: 1, error });
      break;
    }
    expect(journal.begun).toBe(1);
  });

  it("an at-most-once run fails when its handler throws, without a second attempt", async () => {
    const engine = await h.startNode();
    await h.startWorker(engine, {
      name: "work",
      run: () => {
        throw new Error("no");
      },
    });
    const job = await engine.jobs.create("default", spec());
    await h.until(() => h.countEnds() === 1);
    expect(await engine.runs.get("default", job.id)).toMatchObject({ status: "failed", attempt: 1, maxAttempts: 1 });
    expect(h.count("run.retrying")).toBe(0);
  });

  it("an at-most-once run of a schedule keeps its lane kind when the job gets another queue", async () => {
    const engine = await h.startNode();
    const { id } = await engine.jobs.create("default", spec({ schedule: { kind: "manual" } }));
    await engine.jobs.edit("default", { id }, (current) => ({ ...current, queue: "other" }), { actor: null });
    await engine.jobs.runNow("default", { id }, { queue: "third" }, { actor: null });
    const { rows } = await h.database.query<{ queue: string; kind: string }>({
      text: `select l.queue, l.kind from carillon.lane l where l.id in
             (select lane from carillon.job union all select lane from carillon.run) order by 1`,
    });
    expect(rows).toEqual([
      { queue: "other", kind: "solo" },
      { queue: "third", kind: "solo" },
    ]);
  });

  it("a manual run of an at-most-once job is refused if it requests more attempts", async () => {
    const engine = await h.startNode();
    const { id } = await engine.jobs.create("default", spec({ schedule: { kind: "manual" } }));
    const request = { policy: { retry: { maxAttempts: 3 } } };
    await expect(engine.jobs.runNow("default", { id }, request, { actor: null })).rejects.toMatchObject({
      code: "retry_invalid",
    });
  });
});
