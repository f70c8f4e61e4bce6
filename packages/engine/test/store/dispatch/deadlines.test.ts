import { isRunEnd, type JobSpec, type StopOrder } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { EngineHarness, JournalTask } from "../../harness/engine-harness.js";
import { type GatewayHarness, gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

describe("deadlines of waiting runs", () => {
  let h: StoreHarness;
  beforeEach(async () => {
    h = await storeHarness();
  });
  afterEach(() => h.close());

  const past = () => Date.now() - 10;
  const setState = (id: string, state: string) =>
    h.db.query({ text: `update carillon.run set state = '${state}' where id = '${id}'` });

  it.each(["queued", "scheduled", "retrying", "blocked"])(
    "a run that waits beyond its deadline fails with the reason expired from the state %s [INV-6]",
    async (state) => {
      const id = await h.run({ deadline: past() });
      await setState(id, state);
      expect((await h.store.runs.expire(10)).map((run) => run.id)).toEqual([id]);
      const [row] = await h.store.reads.finished(1, [id], 0);
      expect(row).toMatchObject({ status: "failed", status_reason: "expired", error: { type: "DeadlineExceeded" } });
      expect(await h.store.reads.live(1, [id])).toEqual([]);
    },
  );

  it("a run that waits beyond its deadline is ended in batches, the oldest deadline first, and other runs stay", async () => {
    const later = await h.run({ deadline: Date.now() + 60_000 });
    const none = await h.run();
    const second = await h.run({ deadline: past() });
    const first = await h.run({ deadline: past() - 1_000 });
    expect((await h.store.runs.expire(1)).map((run) => run.id)).toEqual([first]);
    expect((await h.store.runs.expire(10)).map((run) => run.id)).toEqual([second]);
    expect(await h.store.runs.expire(10)).toEqual([]);
    expect((await h.store.reads.live(1, [later, none])).map((run) => run.status)).toEqual(["queued", "queued"]);
  });

  it("a run that waits beyond its deadline is not ended by the sweep while a worker executes it", async () => {
    const id = await h.run({ deadline: past() });
    await h.claim(await h.session(), 1);
    expect(await h.store.runs.expire(10)).toEqual([]);
    expect(await h.store.reads.live(1, [id])).toMatchObject([{ status: "running" }]);
  });

  it("a run that waits beyond its deadline is returned with its service level", async () => {
    const sla = { startWithinMs: 5 };
    await h.run({ deadline: past(), policy: { sla } });
    await h.run({ deadline: past() });
    const ended = await h.store.runs.expire(10);
    expect(ended.map((run) => run.sla)).toEqual(expect.arrayContaining([sla, null]));
    expect(ended[0]).toMatchObject({
      trigger: "once",
      fence: 0,
      endedAt: expect.any(Number),
      nominal: expect.any(Number),
    });
  });

  it("a run that waits beyond its deadline keeps its deadline in the far future, and when it is promoted", async () => {
    const runAt = Date.now() + 3_600_000;
    const id = await h.run({ runAt, nominal: runAt, deadline: runAt + 1_000 });
    expect(await h.store.reads.live(1, [id])).toMatchObject([{ deadline_at: runAt + 1_000 }]);
    const fence = await h.takeAll("00000000-0000-7000-8000-000000000001");
    await h.store.farFuture.promote(fence, new Map(), runAt + 1, 10);
    const { rows } = await h.db.query({ text: "select deadline_at from carillon.run" });
    expect(rows).toEqual([{ deadline_at: runAt + 1_000 }]);
  });
});

describe("deadlines of running runs", () => {
  let h: StoreHarness;
  let made: GatewayHarness;
  let now = 0;
  beforeEach(async () => {
    h = await storeHarness();
    now = Date.now();
    made = gatewayOver(h, { now: () => now });
  });
  afterEach(() => {
    made.gateway.stop();
    return h.close();
  });

  async function atWorker(policy: JobSpec["policy"] = {}) {
    const id = await h.run({ deadline: now + 60_000, policy });
    const orders: StopOrder[] = [];
    let take: (given: readonly Assigned[]) => void = () => undefined;
    const assigned = new Promise<readonly Assigned[]>((resolve) => (take = resolve));
    const what = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 1, nodeId: null };
    const onStop = (stops: readonly StopOrder[]) => void orders.push(...stops);
    const session = await made.gateway.open({ ...what, onAssign: take, onStop, onLost: () => undefined });
    made.gateway.resume(session);
    const [run] = await assigned;
    if (run === undefined) throw new Error("nothing was assigned");
    return { id, session, fence: run.fence, orders };
  }

  const finished = async (id: string) => (await h.store.reads.finished(1, [id], 0))[0];
  const failed = { type: "Error", message: "no", retryable: true };

  it("a running run is requested to stop at its deadline, and fails when it stops", async () => {
    const { id, session, fence, orders } = await atWorker();
    now += 59_000;
    await made.gateway.scan();
    expect(orders).toEqual([]);
    now += 1_000;
    await made.gateway.scan();
    expect(orders).toEqual([{ runId: id, fence, reason: "expired" }]);
    const outcome = { kind: "cancelled", error: failed } as const;
    await made.gateway.complete(session, [{ runId: id, fence, startedAgoMs: 0, outcome }]);
    expect(await finished(id)).toMatchObject({ status: "failed", status_reason: "expired" });
  });

  it("a run at a worker is ended by the server a grace time after its deadline, and a later result is refused [INV-4]", async () => {
    const { id, session, fence } = await atWorker();
    now += 70_000;
    await made.gateway.scan();
    expect(await finished(id)).toMatchObject({ status: "failed", status_reason: "expired" });
    const late = { runId: id, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } } as const;
    expect((await made.gateway.complete(session, [late])).size).toBe(0);
  });

  it("a run at a worker succeeds when it finishes its work after the order to stop", async () => {
    const { id, session, fence } = await atWorker();
    now += 61_000;
    const done = { runId: id, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } } as const;
    expect((await made.gateway.complete(session, [done])).size).toBe(1);
    expect(await finished(id)).toMatchObject({ status: "succeeded" });
  });

  it("a run at a worker is announced when it starts or ends later than its service level", async () => {
    const sla = { startWithinMs: 1_000, finishWithinMs: 30_000 };
    const breaches = () =>
      made.events.flatMap((event) => (event.type === "run.sla_breached" ? [[event.runId, event.sla]] : []));
    now += 2_000;
    const { id, session, fence } = await atWorker({ sla });
    expect(breaches()).toEqual([[id, "start"]]);
    now += 31_000;
    const done = { runId: id, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } } as const;
    await made.gateway.complete(session, [done]);
    expect(breaches().slice(1)).toEqual([[id, "finish"]]);
  });

  it("a run at a worker is not tried again when the next try would start after the deadline", async () => {
    const fixed = { backoff: "fixed", jitter: "none" } as const;
    const outcome = { kind: "failed", reason: "handler_error", error: failed } as const;
    const end = async (initialMs: number) => {
      const { id, session, fence } = await atWorker({ retry: { ...fixed, initialMs } });
      await made.gateway.complete(session, [{ runId: id, fence, startedAgoMs: 0, outcome }]);
      await made.gateway.close(session);
      return id;
    };
    expect(await h.store.reads.live(1, [await end(59_999)])).toMatchObject([{ status: "retrying" }]);
    const error = { message: "no" };
    expect(await finished(await end(60_000))).toMatchObject({
      status: "failed",
      status_reason: "expired",
      attempt: 1,
      error,
    });
  });

  it("a run at a worker cannot snooze beyond its deadline", async () => {
    const { id, session, fence } = await atWorker();
    const outcome = { kind: "snoozed", delayMs: 60_000 } as const;
    await made.gateway.complete(session, [{ runId: id, fence, startedAgoMs: 0, outcome }]);
    expect(await finished(id)).toMatchObject({ status: "failed", status_reason: "expired", attempt: 0 });
  });

  it("a run that was claimed after its deadline is never started", async () => {
    const { session } = await atWorker();
    await made.gateway.close(session);
    const given: Assigned[] = [];
    const id = await h.run({ deadline: now - 1 });
    const what = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 1, nodeId: null };
    const events = { onAssign: (runs: readonly Assigned[]) => void given.push(...runs), onStop: () => undefined };
    const other = await made.gateway.open({ ...what, ...events, onLost: () => undefined });
    made.gateway.hintAll();
    made.gateway.resume(other);
    while ((await finished(id)) === undefined);
    expect(await finished(id)).toMatchObject({ status: "failed", status_reason: "expired", attempt: 0 });
    expect(given).toEqual([]);
  });
});

describe("deadlines of jobs", () => {
  let h: EngineHarness;
  beforeEach(async () => {
    h = await EngineHarness.create();
  });
  afterEach(() => h.close());

  const spec = (over: Partial<JobSpec>): JobSpec => ({
    task: "work",
    queue: "default",
    priority: 4,
    payload: null,
    schedule: { kind: "manual" },
    policy: { deadlineMs: 600_000 },
    labels: {},
    ...over,
  });

  it("a job with a deadline gives its deadline to every run, counted from the nominal time", async () => {
    const engine = await h.startNode();
    const every = { kind: "every", everyMs: 1_000, anchor: Date.now() } as const;
    const fired = await engine.jobs.create("default", spec({ schedule: every }));
    const manual = await engine.jobs.create("default", spec({}));
    const byHand = await engine.jobs.runNow("default", { id: manual.id }, {}, { actor: null });
    const shorter = { policy: { deadlineMs: 5_000 }, force: true };
    const other = await engine.jobs.runNow("default", { id: manual.id }, shorter, { actor: null });
    const at = Date.now() + 60_000;
    const once = await engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    await h.until(() => h.count("run.fired") > 0);
    const [run] = (await engine.runs.list("default", { jobId: fired.id }, { pageSize: 10 })).rows;
    expect(run?.deadlineAt).toBe((run?.trigger.scheduledFor ?? 0) + 600_000);
    expect(byHand.deadlineAt).toBe(byHand.trigger.scheduledFor + 600_000);
    expect(other.deadlineAt).toBe(other.trigger.scheduledFor + 5_000);
    expect((await engine.runs.get("default", once.id))?.deadlineAt).toBe(at + 600_000);
  });

  it("a job with a deadline frees the next run when the one before expires", async () => {
    const engine = await h.startNode();
    const firing = { overlap: "queue_all" } as const;
    const { id } = await engine.jobs.create("default", spec({ policy: {}, firing }));
    const first = await engine.jobs.runNow("default", { id }, { policy: { deadlineMs: 1 } }, { actor: null });
    const second = await engine.jobs.runNow("default", { id }, {}, { actor: null });
    expect(second.status).toBe("blocked");
    await h.until(() => h.events.some((event) => isRunEnd(event) && event.runId === first.id));
    const journal = new JournalTask("work", () => h.checkConditions());
    await h.startWorker(engine, journal.task);
    await h.until(() => journal.begun === 1);
    expect((await engine.runs.get("default", second.id))?.status).toBe("running");
    journal.end(1);
  });
});
