import { type JobSpec, parseId } from "@carillon/core";
import type { Task, TaskContext } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../../src/index.js";
import { EngineHarness } from "../../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
beforeEach(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode();
});
afterEach(() => h.close());

const taskOf = (run: (context: TaskContext) => unknown): Task => ({
  name: "work",
  run: (_payload, context) => run(context),
});

const createJob = (over: Partial<JobSpec> = {}) =>
  engine.jobs.create("default", {
    task: "work",
    queue: "default",
    priority: 4,
    payload: null,
    schedule: { kind: "at", at: h.database.clock.now() },
    policy: {},
    labels: {},
    ...over,
  });

const ended = (times = 1) => h.until(() => h.countEnds() >= times);

describe("handlers inside a node", () => {
  it("a handler inside a node saves a checkpoint when its worker leaves, and another worker continues there with no try spent", async () => {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const first = await h.startWorker(
      engine,
      taskOf(async ({ checkpoint, signal }) => {
        const aborted = new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
        begin();
        await aborted;
        await checkpoint.save({ row: 7 });
        throw signal.reason;
      }),
    );
    const { id } = await createJob();
    await begun;
    await first.stop(500);
    await h.startWorker(
      engine,
      taskOf(async ({ checkpoint, attempt, fence }) => ({ from: await checkpoint.load(), attempt, fence })),
    );
    await ended();
    const output = { from: { row: 7 }, attempt: 1, fence: 2 };
    expect(await engine.runs.get("default", id)).toMatchObject({ status: "succeeded", output, attempt: 1 });
  });

  it("a handler inside a node shows its progress while it runs, and its log lines when it has ended", async () => {
    let seen: unknown = null;
    await h.startWorker(
      engine,
      taskOf(async ({ runId, progress, log, heartbeat }) => {
        progress(0.25, "a quarter");
        for (let i = 1; i <= 1_200; i++) log.info(`line ${i}`);
        await heartbeat();
        seen = (await engine.runs.get("default", parseId("run", runId)))?.progress;
      }),
    );
    const { id } = await createJob();
    await ended();
    expect(seen).toMatchObject({ fraction: 0.25, text: "a quarter" });
    expect((await engine.runs.get("default", id))?.progress).toBeNull();
    const page = await engine.runs.logs("default", id, { pageSize: 2_000 });
    expect(page?.lines.map((line) => line.number)).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1));
    expect(page?.isEnd).toBe(true);
  });

  it("a handler inside a node executes a step once over its attempts", async () => {
    let charged = 0;
    await h.startWorker(
      engine,
      taskOf(async ({ step, attempt }) => {
        const receipt = await step("charge", () => ({ number: ++charged }));
        if (attempt === 1) throw new Error("after the charge");
        return receipt;
      }),
    );
    const retry = { maxAttempts: 2, initialMs: 1, jitter: "none" } as const;
    const { id } = await createJob({ policy: { retry } });
    await ended();
    expect(await engine.runs.get("default", id)).toMatchObject({ output: { number: 1 }, attempt: 2 });
    expect(charged).toBe(1);
  });

  it("a handler inside a node reads the last success of its job", async () => {
    await h.startWorker(
      engine,
      taskOf(async ({ previousSuccess }) => {
        const before = await previousSuccess();
        return { before: before?.output ?? null };
      }),
    );
    const anchor = Math.ceil(h.database.clock.now());
    const job = await createJob({ schedule: { kind: "every", everyMs: 1_000, anchor, maxRuns: 2 } });
    await ended(2);
    const { rows } = await engine.runs.list("default", { jobId: job.id }, { pageSize: 9 });
    expect(rows.map((run) => run.output)).toEqual([{ before: { before: null } }, { before: null }]);
  });
});
