import { NonRetryableError, RetryAfterError } from "@carillon/worker";
import type { JobSpec } from "@carillon/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { EngineHarness, JournalTask } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
beforeEach(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode();
});
afterEach(() => h.close());

const spec = (over: Partial<JobSpec> = {}): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: null,
  schedule: { kind: "at", at: Date.now() - 1_000 },
  policy: {},
  labels: {},
  ...over,
});

it("retries a run at the time that its handler requests, not after the backoff", async () => {
  await h.startWorker(engine, {
    name: "work",
    run: () => {
      throw new RetryAfterError("1h", "full");
    },
  });
  const job = await engine.jobs.create("default", spec());
  await h.until(() => h.count("run.retrying") === 1);
  const run = await engine.runs.get("default", job.id);
  expect(run).toMatchObject({ status: "retrying", attempt: 1 });
  const waitMs = (run?.runAt ?? 0) - (run?.attempts[0]?.endedAt ?? 0);
  expect(waitMs).toBeGreaterThan(3_590_000);
  expect(waitMs).toBeLessThan(3_970_000);
});

it("fails a run at once on a non-retryable error, by its class or by its type", async () => {
  await h.startWorker(engine, {
    name: "work",
    run: (payload) => {
      throw payload === "class" ? new NonRetryableError("no") : new RangeError("no");
    },
  });
  const policy = { retry: { nonRetryable: ["RangeError"] } };
  const ids: string[] = [];
  for (const payload of ["class", "type"]) {
    ids.push((await engine.jobs.create("default", spec({ payload, policy }))).id);
  }
  await h.until(() => h.countEnds() === 2);
  for (const id of ids) expect(await engine.runs.get("default", id)).toMatchObject({ status: "failed", attempt: 1 });
  expect(h.count("run.retrying")).toBe(0);
});

it("ends a run once if its result and a cancellation arrive together [INV-4]", async () => {
  const journal = new JournalTask("work", () => h.checkConditions());
  await h.startWorker(engine, journal.task);
  const rounds = 30;
  for (let round = 1; round <= rounds; round++) {
    const { id } = await engine.jobs.create("default", spec());
    await h.until(() => journal.begun === round);
    const cancelled = engine.jobs.cancel("default", { id }, { running: "signal" }, { actor: null });
    if (round % 3 === 0) await new Promise(setImmediate);
    journal.end(round);
    await cancelled.catch(() => undefined);
    await h.until(() => h.countEnds() >= round);
    expect(["succeeded", "cancelled"]).toContain((await engine.runs.get("default", id))?.status);
  }
  const { rows } = await h.database.query<{ ended: number; live: number }>({
    text: `select (select count(*)::int from carillon.run_history) as ended, (select count(*)::int from carillon.run) as live`,
  });
  expect(rows).toEqual([{ ended: rounds, live: 0 }]);
});
