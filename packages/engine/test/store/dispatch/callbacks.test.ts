import { createHash } from "node:crypto";
import { type CallbackAnswer, type JobSpec, callbackSessionId } from "@carillon/core";
import type { Callback, Task, TaskContext, Worker } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { EngineHarness } from "../../harness/engine-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const done = (output: unknown): CallbackAnswer => ({ status: "succeeded", output });
const failure = (retryable: boolean): CallbackAnswer => ({
  status: "failed",
  error: { type: "Remote", message: "no", retryable },
});

describe("waiting runs", () => {
  let h: EngineHarness;
  let engine: Engine;
  let given: Callback[];
  beforeEach(async () => {
    given = [];
    h = await EngineHarness.create();
    engine = await h.startNode();
  });
  afterEach(() => h.close());

  const taskOf = (run: (context: TaskContext) => unknown): Task => ({ name: "work", run: (_payload, ctx) => run(ctx) });

  /** Hands the work on, and waits. */
  const handsOn = (waitMs = 60_000): Task =>
    taskOf(async ({ callback }) => {
      const one = await callback();
      given.push(one);
      if (one.answer !== null) return { adopted: one.answer };
      throw one.wait(waitMs);
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

  const waiting = (times = 1) => h.until(() => h.count("run.waiting") >= times);
  const ended = (times = 1) => h.until(() => h.countEnds() >= times);
  const call = (answer: CallbackAnswer, index = 0, by = engine) =>
    by.waitingRuns.answer(hashOf(given[index]?.token ?? ""), answer);
  const runOf = (id: string) => engine.runs.get("default", id);

  async function waitingRun(over: Partial<JobSpec> = {}, waitMs?: number): Promise<{ id: string; worker: Worker }> {
    const worker = await h.startWorker(engine, handsOn(waitMs));
    const { id } = await createJob(over);
    await waiting();
    return { id, worker };
  }

  it("a run that waits for a callback stays running without a worker, and ends with the result of the callback", async () => {
    const { id, worker } = await waitingRun();
    expect(worker.runningCount).toBe(0);
    expect(await runOf(id)).toMatchObject({ status: "running", statusReason: "callback", workerId: null });
    expect(await call(done({ rows: 3 }))).toBe("taken");
    expect(await runOf(id)).toMatchObject({ status: "succeeded", output: { rows: 3 }, attempt: 1, workerId: null });
  });

  it("a run that waits for a callback is ended once: a second callback is refused and changes nothing [INV-2]", async () => {
    const { id } = await waitingRun();
    expect(await call(done(1))).toBe("taken");
    expect(await call(done(2))).toBe("used");
    expect(await runOf(id)).toMatchObject({ output: 1 });
  });

  it("a run that waits for a callback is ended once by callbacks that reach several nodes at the same time [INV-2]", async () => {
    const other = await h.startNode("other");
    const { id } = await waitingRun();
    const answers = await Promise.all([0, 1, 2, 3].map((n) => call(done(n), 0, n % 2 === 0 ? engine : other)));
    expect(answers.sort()).toEqual(["taken", "used", "used", "used"]);
    expect(await runOf(id)).toMatchObject({ status: "succeeded" });
    expect(h.countEnds()).toBe(1);
  });

  it("a run that waits for a callback is tried again with a new token when the callback reports a failure, and the old token is over", async () => {
    const { id } = await waitingRun({ policy: { retry: { maxAttempts: 2, backoff: "fixed", initialMs: 1 } } });
    expect(await call(failure(true))).toBe("taken");
    await waiting(2);
    expect(given[1]?.answer).toBeNull();
    expect(await call(done(1), 0)).toBe("used");
    expect(await runOf(id)).toMatchObject({ status: "running", attempt: 2 });
    expect(await call(failure(false), 1)).toBe("taken");
    expect(await runOf(id)).toMatchObject({ status: "failed", error: { type: "Remote" }, attempt: 2 });
  });

  it("a run that waits for a callback accepts its callback before its worker has reported that it waits", async () => {
    await h.startWorker(
      engine,
      taskOf(async ({ callback }) => {
        const one = await callback();
        given.push(one);
        expect(await call(done("early"))).toBe("taken");
        throw one.wait(60_000);
      }),
    );
    const { id } = await createJob();
    await ended();
    expect(await runOf(id)).toMatchObject({ status: "succeeded", output: "early" });
  });

  it("a run that waits for a callback times out without a callback, and refuses a later one", async () => {
    const { id } = await waitingRun({ policy: { retry: { maxAttempts: 1 } } }, 1);
    await ended();
    expect(await runOf(id)).toMatchObject({
      status: "failed",
      statusReason: "timeout",
      error: { type: "CallbackTimeout" },
    });
    expect(await call(done(1))).toBe("over");
  });

  it("a run that waits for a callback waits no longer than the timeout of its attempt and the deadline of its run", async () => {
    const { id } = await waitingRun({ policy: { timeoutMs: 30_000, deadlineMs: 40_000 } }, 3_600_000);
    const { rows } = await h.database.query<{ ms: number }>({
      text: "select extract(epoch from due_at - begun_at)::float8 * 1000 as ms from carillon.callback",
    });
    expect(Math.round(rows[0]?.ms ?? 0)).toBeLessThanOrEqual(30_001);
    expect(await runOf(id)).toMatchObject({ status: "running" });
  });

  it("a run that waits for a callback fails at its deadline", async () => {
    const { id } = await waitingRun({ policy: { deadlineMs: 60_000 } });
    await h.database.query({ text: "update carillon.run set deadline_at = now() - interval '1 second'" });
    await h.database.query({ text: "update carillon.callback set due_at = now()" });
    await ended();
    expect(await runOf(id)).toMatchObject({ status: "failed", statusReason: "expired" });
    expect(await call(done(1))).toBe("over");
  });

  it("a run that waits for a callback is cancelled without a worker", async () => {
    const { id } = await waitingRun();
    await engine.jobs.cancel("default", { id }, { running: "signal" }, { actor: null });
    await ended();
    expect(await runOf(id)).toMatchObject({ status: "cancelled" });
    expect(await call(done(1))).toBe("over");
  });

  it("a run that waits for a callback can be cancelled as a single run, and shows its wait reason until then", async () => {
    const { id } = await waitingRun();
    const waits = await engine.explanations.run("default", id);
    expect(waits?.explanation.detail).toMatch(/^attempt 1 of \d+ waits for a callback, without a worker/);
    await engine.runs.cancel("default", id);
    await ended();
    expect(await runOf(id)).toMatchObject({ status: "cancelled", statusReason: "cancelled_by_user" });
  });

  it("a run that waits for a callback keeps waiting after its worker and the worker's session are gone [INV-6]", async () => {
    const { id, worker } = await waitingRun();
    await worker.stop(0);
    expect(await runOf(id)).toMatchObject({ status: "running", statusReason: "callback", losses: 0 });
    expect(await call(done("later"))).toBe("taken");
    expect(await runOf(id)).toMatchObject({ status: "succeeded", output: "later" });
  });

  it("a run that waits for a callback fails when its handler waits for a callback that it never opened", async () => {
    await h.startWorker(
      engine,
      taskOf(async ({ callback }) => {
        const one = await callback();
        await h.database.query({ text: "delete from carillon.callback" });
        throw one.wait(60_000);
      }),
    );
    const { id } = await createJob();
    await waiting();
    expect(await runOf(id)).toMatchObject({ status: "failed", error: { type: "CallbackNotOpen" } });
  });

  it("a run that waits for a callback refuses unknown tokens", async () => {
    await waitingRun();
    expect(await engine.waitingRuns.answer(hashOf("guessed"), done(1))).toBe("unknown");
  });
});

describe("lost workers of waiting runs", () => {
  let h: StoreHarness;
  beforeEach(async () => {
    h = await storeHarness();
  });
  afterEach(() => h.close());

  const [first, second] = [hashOf("first"), hashOf("second")];

  async function lost() {
    const id = await h.run();
    const session = await h.session();
    await h.claim(session, 1);
    await h.store.claims.started(session, [{ id, fence: 1, agoMs: 0 }]);
    const claim = { session, id, fence: 1 };
    expect(await h.store.callbacks.open(claim, first)).toBeNull();
    return { id, session, claim };
  }

  async function claimedAgain(id: string, session: string) {
    await h.store.sessions.close(session);
    await h.store.runs.rescue([id], 3);
    const next = await h.session();
    await h.claim(next, 1);
    return { session: next, id, fence: 2 };
  }

  it("a worker that is lost after it passed its callback token on leaves a callback that arrived meanwhile to the next claim, which does not repeat the work", async () => {
    const { id, session } = await lost();
    expect(await h.store.callbacks.answer(first, done(7))).toMatchObject({ id, waits: false });
    const claim = await claimedAgain(id, session);
    expect(await h.store.callbacks.open(claim, second)).toMatchObject({ value: JSON.stringify(done(7)) });
  });

  it("a worker that is lost after it passed its callback token on gets callbacks refused once another worker has the run [INV-2]", async () => {
    const { id, session, claim } = await lost();
    const next = await claimedAgain(id, session);
    expect(await h.store.callbacks.answer(first, done(7))).toBeNull();
    expect(await h.store.callbacks.state(first)).toBe("over");
    expect(await h.store.callbacks.open(claim, second)).toBe("lost");
    expect(await h.store.callbacks.open(next, second)).toBeNull();
  });

  it("a worker that is lost after it passed its callback token on cannot make the run wait once another worker has it [INV-2]", async () => {
    const { id, session, claim } = await lost();
    await claimedAgain(id, session);
    const until = Date.now() + 60_000;
    expect(await h.store.callbacks.wait([{ ...claim, until, startedAt: Date.now() }])).toEqual(new Map());
  });

  it("a worker that is lost after it passed its callback token on leaves no run to the rescue when its run waits", async () => {
    const { id, session, claim } = await lost();
    const until = Date.now() + 60_000;
    expect(await h.store.callbacks.wait([{ ...claim, until, startedAt: Date.now() }])).toEqual(new Map([[id, false]]));
    await h.store.sessions.close(session);
    expect(await h.store.runs.lost(10)).toEqual([]);
    expect(await h.store.runs.rescue([id], 3)).toEqual([]);
    expect(await h.store.claims.heldAmong(callbackSessionId, [id])).toMatchObject([{ id, fence: 1 }]);
    // Its worker sends the same again when the answer did not arrive.
    expect(await h.store.claims.accepted(session, [{ id, fence: 1, isSuccess: false }], 0)).toEqual(new Set([id]));
  });
});
