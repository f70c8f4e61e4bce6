import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { NonRetryableError, RetryAfterError, type TaskHandler, Worker, type WorkerEvent } from "../../../src/index.js";
import { assignment, FakeTransport } from "./fake-transport.js";
import { manualTimers } from "./manual-timers.js";

function setUp(run: TaskHandler, slots = 2) {
  const transport = new FakeTransport();
  const timers = manualTimers();
  const events: WorkerEvent[] = [];
  const tasks = [{ name: "work", run }];
  const onEvent = (event: WorkerEvent): void => void events.push(event);
  const worker = new Worker({ transport, timers, tasks, name: "w", queues: ["default"], slots, onEvent });
  return { transport, timers, events, worker };
}

/** A handler that ends when the test releases it. */
function gated() {
  const gates = new Map<string, { release: (value: unknown) => void; signal: AbortSignal }>();
  const run: TaskHandler = (_payload, { runId, signal }) =>
    new Promise((release) => gates.set(runId, { release, signal }));
  return { gates, run };
}

function cyclic(): object {
  const thrown: Record<string, unknown> = {};
  return Object.assign(thrown, { thrown });
}

/** Some libraries throw such errors. */
const oddError = (): Error => Object.assign(new Error(), { name: 404, message: { code: 7 }, stack: [] });

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the worker", () => {
  it("registers its tasks, executes an assigned run, and reports the result with the fence", async () => {
    const { transport, worker } = setUp((payload) => ({ got: payload }));
    await worker.start();
    transport.assign(assignment("r1", { payload: 7, fence: 3 }));
    await transport.until(() => transport.completions.length === 1);
    expect(transport.registrations).toEqual([{ name: "w", queues: ["default"], slots: 2, tasks: ["work"] }]);
    expect(transport.completions[0]).toMatchObject({
      runId: "r1",
      fence: 3,
      outcome: { kind: "succeeded", outputJson: '{"got":7}' },
    });
    await worker.stop(0);
    expect(transport.isClosed).toBe(true);
  });

  it("shows handlers and events the ids of the API instead of the ids of the engine", async () => {
    const id = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
    const seen: unknown[] = [];
    const { transport, events, worker } = setUp((_payload, { runId, jobId, idempotencyKey }) => {
      seen.push({ runId, jobId, idempotencyKey });
      throw new Error("no luck");
    });
    await worker.start();
    transport.refuse.add(id);
    transport.assign(assignment(id, { jobId: id }));
    await transport.until(() => transport.completions.length === 1);
    await settled();
    const runId = formatId("run", id);
    expect(seen).toEqual([{ runId, jobId: formatId("job", id), idempotencyKey: runId }]);
    expect(transport.completions).toMatchObject([{ runId: id }]);
    expect(events).toMatchObject([
      { type: "worker.started" },
      { type: "run.attempt_failed", runId },
      { type: "run.result_refused", runId },
    ]);
    await worker.stop(0);
  });

  it("never executes more runs than it has slots, and queues runs that are assigned ahead", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"), assignment("r3"));
    await settled();
    expect([...gates.keys()]).toEqual(["r1", "r2"]);
    gates.get("r1")?.release(null);
    await settled();
    expect([...gates.keys()]).toEqual(["r1", "r2", "r3"]);
    await worker.stop(0);
  });

  it("starts a run that needs several slots when they are free, and lets no later run overtake it", async () => {
    const { gates, run } = gated();
    const transport = new FakeTransport();
    const tasks = [
      { name: "work", run },
      { name: "heavy", run, weight: 3, versions: ["2"] },
    ];
    const timers = manualTimers();
    const registration = { name: "w", queues: ["default"], slots: 4, labels: { gpu: "a" }, isSpot: true };
    const worker = new Worker({ transport, timers, tasks, ...registration });
    await worker.start();
    expect(transport.registrations).toEqual([
      { ...registration, tasks: ["work", "heavy"], weights: { heavy: 3 }, versions: { heavy: ["2"] } },
    ]);
    const heavy = { task: "heavy" };
    transport.assign(assignment("r1"), assignment("r2"), assignment("h1", heavy), assignment("r3"));
    await settled();
    expect([...gates.keys()]).toEqual(["r1", "r2"]);
    gates.get("r1")?.release(null);
    await settled();
    expect([...gates.keys()]).toEqual(["r1", "r2", "h1"]);
    gates.get("h1")?.release(null);
    await settled();
    expect([...gates.keys()]).toEqual(["r1", "r2", "h1", "r3"]);
    await worker.stop(0);
  });

  it("signals its handlers at once when its machine is reclaimed, and gives back runs that do not end in time", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"), assignment("r3"));
    await settled();
    const leaving = worker.leave(5_000);
    await settled();
    timers.advance(0);
    await settled();
    expect([...gates.values()].map(({ signal }) => signal.aborted)).toEqual([true, true]);
    gates.get("r1")?.release("saved in time");
    await settled();
    timers.advance(5_000);
    await leaving;
    expect(transport.completions.map(({ runId }) => runId)).toEqual(["r1"]);
    expect(transport.givenBack).toEqual(["r3", "r2"]);
  });

  it("ignores a claim that it holds already, and restarts a run that arrives with another fence", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1", { fence: 1 }));
    const first = gates.get("r1");
    transport.assign(assignment("r1", { fence: 1 }));
    expect(gates.get("r1")).toBe(first);
    transport.assign(assignment("r1", { fence: 2 }));
    expect(gates.get("r1")).not.toBe(first);
    first?.release("late");
    gates.get("r1")?.release("right");
    await transport.until(() => transport.completions.length === 1);
    expect(transport.completions[0]).toMatchObject({ runId: "r1", fence: 2, outcome: { outputJson: '"right"' } });
    await worker.stop(0);
  });

  it("cancels a queued run that it is asked to stop, without starting it", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp(run, 1);
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"));
    transport.events.onStop([{ runId: "r2", fence: 1, reason: "cancelled_by_user" }]);
    await transport.until(() => transport.completions.length === 1);
    expect(transport.completions[0]).toMatchObject({ runId: "r2", outcome: { kind: "cancelled" } });
    gates.get("r1")?.release(null);
    await settled();
    expect([...gates.keys()]).toEqual(["r1"]);
    await worker.stop(0);
  });

  it("gives the handler an idempotency key that is the same for all attempts and a fence that changes", async () => {
    const seen: { key: string; fence: number }[] = [];
    const { transport, worker } = setUp(
      (_payload, context) => void seen.push({ key: context.idempotencyKey, fence: context.fence }),
    );
    await worker.start();
    transport.assign(assignment("r1", { attempt: 1, fence: 1 }));
    await transport.until(() => transport.completions.length === 1);
    transport.assign(assignment("r1", { attempt: 2, fence: 2 }));
    await transport.until(() => transport.completions.length === 2);
    expect(seen).toEqual([
      { key: "r1", fence: 1 },
      { key: "r1", fence: 2 },
    ]);
    await worker.stop(0);
  });

  it.each([
    [new Error("boom"), { reason: "handler_error", error: { type: "Error", message: "boom", retryable: true } }],
    [new NonRetryableError("never"), { error: { type: "NonRetryableError", retryable: false } }],
    [Object.assign(new Error("of a copy"), { name: "NonRetryableError" }), { error: { retryable: false } }],
    [new RetryAfterError("30s", "later"), { retryAfterMs: 30_000, error: { retryable: true } }],
  ])("reports the thrown error %s with its kind of failure", async (thrown, expected) => {
    const { transport, worker } = setUp(() => {
      throw thrown;
    });
    await worker.start();
    transport.assign(assignment("r1"));
    await transport.until(() => transport.completions.length === 1);
    expect(transport.completions[0]?.outcome).toMatchObject({ kind: "failed", ...expected });
    await worker.stop(0);
  });

  it("reports a thrown object that has no JSON as a failure", async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const { transport, worker } = setUp(() => {
      throw circular;
    });
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"));
    await transport.until(() => transport.completions.length === 2);
    expect(transport.completions[1]?.outcome).toMatchObject({ kind: "failed", error: { retryable: true } });
    await worker.stop(0);
  });

  it("frees the slot of a run that ends synchronously, for any number of runs", async () => {
    const runs = Array.from({ length: 20_000 }, (_, index) => assignment(`r${index}`));
    const { transport, worker } = setUp(() => undefined, 1);
    await worker.start();
    transport.assign(...runs);
    expect(worker.runningCount).toBe(0);
    await transport.until(() => transport.completions.length === runs.length);
    expect(transport.completions.map(({ runId }) => runId)).toEqual(runs.map(({ runId }) => runId));
    await worker.stop(0);
  });

  it("starts queued runs when the run before them ends synchronously", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp((payload, ctx) => (payload === "long" ? run(payload, ctx) : payload), 1);
    await worker.start();
    const long = { payload: "long" };
    transport.assign(assignment("r1", long), assignment("r2"), assignment("r3"), assignment("r4", long));
    expect([...gates.keys()]).toEqual(["r1"]);
    gates.get("r1")?.release(null);
    await transport.until(() => transport.completions.length === 3);
    expect([...gates.keys()]).toEqual(["r1", "r4"]);
    await worker.stop(0);
  });

  it("awaits any thenable that a handler returns", async () => {
    const later = {};
    Reflect.set(later, "then", (settle: (value: unknown) => void) => settle("late"));
    const { transport, worker } = setUp(() => later);
    await worker.start();
    transport.assign(assignment("r1"));
    await transport.until(() => transport.completions.length === 1);
    expect(transport.completions[0]?.outcome).toEqual({ kind: "succeeded", outputJson: '"late"' });
    await worker.stop(0);
  });

  it("fires the signal of a handler at its timeout and reports a timeout", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1", { timeoutMs: 1_000 }));
    timers.advance(1_000);
    await transport.until(() => transport.completions.length === 1);
    expect(gates.get("r1")?.signal.aborted).toBe(true);
    expect(transport.completions[0]?.outcome).toMatchObject({ kind: "failed", reason: "timeout" });
    await worker.stop(0);
  });

  it("sends a result again until the engine answers it", async () => {
    const { transport, timers, worker, events } = setUp(() => "done");
    transport.completeErrors.push(new Error("connection lost"), new Error("connection lost"));
    await worker.start();
    transport.assign(assignment("r1"));
    for (let failure = 1; failure <= 2; failure++) {
      while (events.filter((event) => event.type === "worker.transport_failed").length < failure) await settled();
      timers.advance(500);
    }
    await transport.until(() => transport.completions.length === 1);
    await worker.stop(0);
    expect(transport.completions.map((one) => one.runId)).toEqual(["r1"]);
  });

  it("reports the start of a run once, after it has run for some seconds", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run, 1);
    await worker.start();
    timers.advance(1_000);
    transport.assign(assignment("r1", { fence: 4 }), assignment("r2"));
    for (let seconds = 0; seconds < 9; seconds++) {
      timers.advance(1_000);
      await settled();
    }
    expect(transport.startedRuns).toEqual([{ runId: "r1", fence: 4, agoMs: 2_000 }]);
    gates.get("r1")?.release(null);
    await worker.stop(0);
  });

  it.each([
    ["a cycle", () => cyclic(), "[object Object]"],
    ["a bigint", () => 10n, "[object BigInt]"],
    ["nothing", () => undefined, "undefined"],
    ["an error whose members are not texts", () => oddError(), '{"code":7}'],
  ])("reports a failure when a handler throws %s, and continues with the next run", async (_what, thrown, message) => {
    const { transport, worker } = setUp(() => {
      throw thrown();
    }, 1);
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"));
    await transport.until(() => transport.completions.length === 2);
    const error = { type: "Error", message, retryable: true };
    expect(transport.completions.map(({ outcome }) => outcome)).toMatchObject([{ error }, { error }]);
    await worker.stop(0);
  });

  it("emits an event when a result is refused", async () => {
    const { transport, worker, events } = setUp(() => "late");
    transport.refuse.add("r1");
    await worker.start();
    transport.assign(assignment("r1"));
    await transport.until(() => transport.completions.length === 1);
    await settled();
    expect(events).toContainEqual({ type: "run.result_refused", runId: "r1" });
    await worker.stop(0);
  });

  it("signals its handlers when the session is lost, and registers again", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker, events } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"));
    transport.openErrors.push(new Error("connection lost"));
    transport.events.onLost();
    while (!events.some((event) => event.type === "worker.transport_failed")) await settled();
    timers.advance(500);
    await transport.until(() => transport.registrations.length === 2);
    transport.assign(assignment("r2"));
    expect(gates.get("r1")?.signal.aborted).toBe(true);
    gates.get("r1")?.release("late");
    gates.get("r2")?.release("right");
    await transport.until(() => transport.completions.length === 1);
    expect(transport.completions.map((one) => one.runId)).toEqual(["r2"]);
    await worker.stop(0);
  });
});

describe("a drain", () => {
  it("waits for active runs and takes no more during a drain", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"));
    while (!gates.has("r1")) await settled();
    const stopped = worker.stop(10_000);
    expect(transport.isPaused).toBe(true);
    gates.get("r1")?.release("ok");
    await stopped;
    expect(transport.completions.map((one) => one.runId)).toEqual(["r1"]);
    expect(transport.givenBack).toEqual([]);
  });

  it("starts no further run after a handler has called stop", async () => {
    const given = [assignment("r1"), assignment("r2"), assignment("r3")];
    const { transport, worker } = setUp(() => void worker.stop(0), 3);
    await worker.start();
    transport.assign(...given);
    await worker.stop(0);
    expect(transport.completions.map(({ runId }) => runId)).toEqual(["r1"]);
    expect(transport.givenBack).toEqual(["r2", "r3"]);
  });

  it("gives back queued runs at once during a drain", async () => {
    const { gates, run } = gated();
    const { transport, worker } = setUp(run, 1);
    await worker.start();
    transport.assign(assignment("r1"), assignment("r2"), assignment("r3"));
    const stopped = worker.stop(10_000);
    await settled();
    expect(transport.givenBack).toEqual(["r2", "r3"]);
    gates.get("r1")?.release("ok");
    await stopped;
    expect(gates.has("r2")).toBe(false);
  });

  it("fails an active at-most-once run at the end of a drain instead of giving it back", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1", { atMostOnce: true }), assignment("r2"));
    while (!gates.has("r2")) await settled();
    const stopped = worker.stop(0);
    await settled();
    timers.advance(0);
    await stopped;
    expect(gates.get("r1")?.signal.aborted).toBe(true);
    expect(transport.givenBack).toEqual(["r2"]);
    const [only, ...others] = transport.completions;
    expect(others).toEqual([]);
    expect(only).toMatchObject({ runId: "r1", outcome: { kind: "failed", error: { type: "WorkerStopped" } } });
  });

  it("shortens a drain when stop is called again with less grace time", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"));
    const stopped = worker.stop(10_000);
    await settled();
    void worker.stop(0);
    timers.advance(0);
    await stopped;
    expect(gates.get("r1")?.signal.aborted).toBe(true);
    expect(transport.givenBack).toEqual(["r1"]);
  });

  it("gives back a run that does not end within the grace time, after its signal has fired", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"));
    while (!gates.has("r1")) await settled();
    const stopped = worker.stop(10_000);
    await settled();
    timers.advance(10_000);
    await settled();
    expect(gates.get("r1")?.signal.reason).toMatchObject({ name: "RunStoppedError", reason: "drain" });
    timers.advance(1_000);
    await stopped;
    expect(transport.givenBack).toEqual(["r1"]);
    expect(transport.completions).toEqual([]);
  });

  it("gives back a run that arrives after the drain stopped waiting for new ones", async () => {
    const { gates, run } = gated();
    const { transport, timers, worker } = setUp(run);
    await worker.start();
    transport.assign(assignment("r1"));
    while (!gates.has("r1")) await settled();
    transport.pause = () => new Promise(() => undefined);
    const stopped = worker.stop(10_000);
    timers.advance(3_000);
    await settled();
    transport.assign(assignment("r2", { atMostOnce: true }));
    gates.get("r1")?.release("ok");
    await stopped;
    expect(transport.completions.map((one) => one.runId)).toEqual(["r1"]);
    expect(transport.givenBack).toEqual(["r2"]);
    expect(gates.has("r2")).toBe(false);
  });

  describe("during registration", () => {
    function opening() {
      const parts = setUp(() => null);
      const { transport, worker } = parts;
      let opened: () => void = () => undefined;
      const open = transport.open.bind(transport);
      transport.open = async (...given) => {
        await new Promise<void>((resolve) => (opened = resolve));
        await open(...given);
      };
      const started = worker.start();
      return { ...parts, started, open: () => opened() };
    }

    it("waits for a registration in progress when it stops, and closes its session", async () => {
      const { transport, worker, events, started, open } = opening();
      const stopped = worker.stop(1_000);
      open();
      await Promise.all([started, stopped]);
      expect([transport.isPaused, transport.isClosed]).toEqual([true, true]);
      expect(events.map(({ type }) => type)).toEqual(["worker.drained"]);
    });

    it("closes a session that opens after the stop, and gives back its runs", async () => {
      const { transport, timers, worker, started, open } = opening();
      const stopped = worker.stop(1_000);
      await settled();
      timers.advance(3_000);
      await stopped;
      transport.isClosed = false;
      transport.pause = async () => transport.assign(assignment("r1"));
      open();
      await started;
      expect(transport.givenBack).toEqual(["r1"]);
      expect(transport.isClosed).toBe(true);
      expect(transport.completions).toEqual([]);
    });
  });
});
