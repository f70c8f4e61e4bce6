import { type Assignment, noteLimits, type RunNote } from "@carillon/core";
import { afterEach, describe, expect, it } from "vitest";
import { RunStoppedError, SnoozeError, type TaskContext, Worker, type WorkerEvent } from "../../../src/index.js";
import { assignment, FakeTransport } from "./fake-transport.js";
import { manualTimers } from "./manual-timers.js";

const workers: Worker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A worker with one run, whose handler is given by the test. */
async function setUp(run: (context: TaskContext) => unknown, over: Partial<Assignment> = {}) {
  const transport = new FakeTransport();
  const timers = manualTimers();
  const events: WorkerEvent[] = [];
  const tasks = [{ name: "work", run: (_payload: unknown, context: TaskContext) => run(context) }];
  const onEvent = (event: WorkerEvent): void => void events.push(event);
  const worker = new Worker({ transport, timers, tasks, name: "w", queues: ["default"], slots: 2, onEvent });
  workers.push(worker);
  await worker.start();
  const give = (): void => transport.assign(assignment("r1", { fence: 2, ...over }));
  const ended = async () => {
    await transport.until(() => transport.completions.length === 1);
    return transport.completions[0]?.outcome;
  };
  return { transport, timers, events, worker, give, ended };
}

const notesOf = <Kind extends RunNote["kind"]>(transport: FakeTransport, kind: Kind) =>
  transport.noted.flat().filter((note): note is Extract<RunNote, { kind: Kind }> => note.kind === kind);

describe("a checkpoint", () => {
  it("loads the checkpoint of an earlier attempt", async () => {
    const h = await setUp(({ checkpoint }) => checkpoint.load());
    h.transport.answer = () => ({ kind: "value", valueJson: '{"row":7}', at: 0 });
    h.give();
    expect(await h.ended()).toMatchObject({ kind: "succeeded", outputJson: '{"row":7}' });
    expect(h.transport.noted).toEqual([[{ kind: "checkpoint_load", runId: "r1", fence: 2 }]]);
  });

  it("loads no checkpoint under the first claim of a run, because none can exist", async () => {
    const h = await setUp(async ({ checkpoint }) => (await checkpoint.load()) ?? "none", { fence: 1 });
    h.give();
    expect(await h.ended()).toMatchObject({ outputJson: '"none"' });
    expect(h.transport.noted).toEqual([]);
  });

  it("replaces an unsent checkpoint by a later one and sends only the last", async () => {
    const h = await setUp(async ({ checkpoint }) => {
      await Promise.all([checkpoint.save(1), checkpoint.save(2), checkpoint.save({ last: true })]);
      return checkpoint.load();
    });
    h.give();
    expect(await h.ended()).toMatchObject({ outputJson: '{"last":true}' });
    expect(notesOf(h.transport, "checkpoint")).toMatchObject([{ number: 3, valueJson: '{"last":true}' }]);
  });

  it("sends a checkpoint again until the engine answers it", async () => {
    const h = await setUp(({ checkpoint }) => checkpoint.save("here"));
    h.transport.noteErrors.push(new Error("connection lost"));
    h.give();
    while (!h.events.some((event) => event.type === "worker.transport_failed")) await settled();
    expect(h.transport.completions).toEqual([]);
    h.timers.advance(500);
    expect(await h.ended()).toMatchObject({ kind: "succeeded" });
    expect(notesOf(h.transport, "checkpoint")).toHaveLength(1);
  });

  it("refuses a checkpoint that is too large, without a retry and with the limit in the message", async () => {
    const h = await setUp(({ checkpoint }) => checkpoint.save("x".repeat(noteLimits.valueBytes)));
    h.give();
    const message = expect.stringContaining(`${noteLimits.valueBytes} is the most`) as string;
    expect(await h.ended()).toMatchObject({ error: { type: "NonRetryableError", message, retryable: false } });
  });

  it("fires the signal of a handler whose checkpoint is refused because another worker has the run", async () => {
    let signal: AbortSignal | null = null;
    const h = await setUp(async (context) => {
      ({ signal } = context);
      await context.checkpoint.save(1);
    });
    h.transport.answer = () => ({ kind: "lost" });
    h.give();
    expect(await h.ended()).toMatchObject({ error: { type: "RunStoppedError" } });
    expect((signal as AbortSignal | null)?.reason).toMatchObject({ reason: "claim_lost" });
  });

  it("stores a checkpoint that a handler saves after its signal, before the worker gives the run back", async () => {
    const h = await setUp(async ({ signal, checkpoint }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await checkpoint.save("so far");
      throw signal.reason;
    });
    h.give();
    const stopped = h.worker.stop(10_000);
    await settled();
    h.timers.advance(10_000);
    await stopped;
    expect(notesOf(h.transport, "checkpoint")).toHaveLength(1);
    expect(h.transport.givenBack).toEqual(["r1"]);
    expect(h.transport.completions).toEqual([]);
  });
});

describe("progress", () => {
  it("sends progress at once, and then the latest value once a second", async () => {
    let context: TaskContext | null = null;
    const h = await setUp((given) => {
      context = given;
      return new Promise(() => undefined);
    });
    h.give();
    const progress = (fraction: number, text?: string): void => context?.progress(fraction, text);
    progress(0.1, "first");
    await settled();
    for (let i = 2; i <= 9; i++) progress(i / 10);
    await settled();
    expect(notesOf(h.transport, "progress")).toHaveLength(1);
    h.timers.advance(1_000);
    await settled();
    progress(7);
    h.timers.advance(1_000);
    await settled();
    expect(notesOf(h.transport, "progress").map(({ fraction, text }) => [fraction, text])).toEqual([
      [0.1, "first"],
      [0.9, null],
      [1, null],
    ]);
  });
});

describe("a step", () => {
  it("executes a step once within an attempt and stores its result", async () => {
    let calls = 0;
    const charge = () => ({ number: ++calls });
    const h = await setUp(async ({ step }) => [await step("charge", charge), await step("charge", charge)], {
      fence: 1,
    });
    h.give();
    expect(await h.ended()).toMatchObject({ kind: "succeeded", outputJson: '[{"number":1},{"number":1}]' });
    expect(h.transport.noted.flat()).toMatchObject([{ kind: "step", name: "charge", valueJson: '{"number":1}' }]);
  });

  it("returns the stored result of a step that an earlier attempt has executed", async () => {
    const h = await setUp((context) =>
      context.step("charge", () => {
        throw new Error("done twice");
      }),
    );
    h.transport.answer = (note) =>
      note.kind === "step_load" ? { kind: "value", valueJson: "42", at: 0 } : { kind: "done" };
    h.give();
    expect(await h.ended()).toMatchObject({ kind: "succeeded", outputJson: "42" });
  });
});

describe("once", () => {
  it("announces a once before its work and stores the result after it", async () => {
    const h = await setUp((context) => context.once("welcome:7", () => "sent"));
    h.give();
    expect(await h.ended()).toMatchObject({ outputJson: '"sent"' });
    expect(h.transport.noted.flat()).toMatchObject([
      { kind: "once_begin", key: "welcome:7", keepMs: noteLimits.onceKeepMs },
      { kind: "once_end", key: "welcome:7", valueJson: '"sent"' },
    ]);
  });

  it("fails for good when the options of a once are wrong", async () => {
    const wrong: readonly [object, string][] = [
      [{ keep_ms: 5 }, 'ctx.once("k"): keep_ms is not an option. Did you mean keepMs?'],
      [{ keepMs: 0 }, 'ctx.once("k"): keepMs must be at least 1, not 0.'],
    ];
    for (const [options, message] of wrong) {
      const h = await setUp((context) => context.once("k", () => "never", options));
      h.give();
      expect(await h.ended()).toMatchObject({ kind: "failed", error: { message, retryable: false } });
    }
  });

  it("snoozes a run while another run executes the same once", async () => {
    let thrown: unknown;
    const h = await setUp((context) =>
      context
        .once("k", () => "never")
        .catch((error: unknown) => {
          thrown = error;
          throw error;
        }),
    );
    h.transport.answer = () => ({ kind: "busy" });
    h.give();
    expect(await h.ended()).toEqual({ kind: "snoozed", delayMs: 5_000 });
    expect(thrown).toBeInstanceOf(SnoozeError);
  });
});

describe("the log", () => {
  it("sends the log before the result, with the number and the age of each line", async () => {
    const h = await setUp(async ({ log }) => {
      log.info("begun", { rows: 3 });
      h.timers.advance(50);
      log.error("odd", { error: new TypeError("no") });
    });
    h.give();
    await h.ended();
    const [first, second] = notesOf(h.transport, "log")[0]?.lines ?? [];
    expect(first).toEqual({ number: 1, level: "info", message: "begun", fieldsJson: '{"rows":3}', agoMs: 50 });
    expect(second).toMatchObject({ number: 2, level: "error", agoMs: 0 });
    expect(JSON.parse(second?.fieldsJson ?? "")).toMatchObject({ error: { type: "TypeError", message: "no" } });
  });

  it("cuts a log line that is too long and adds how many bytes are missing", async () => {
    const h = await setUp(({ log }) => log.info("é".repeat(noteLimits.logLineBytes)));
    h.give();
    await h.ended();
    const [line] = notesOf(h.transport, "log")[0]?.lines ?? [];
    expect(line?.message).toMatch(/^é+ … \(\d+ bytes more\)$/u);
    expect(Buffer.byteLength(line?.message ?? "")).toBeLessThanOrEqual(noteLimits.logLineBytes);
  });

  it("stops the log at the limit of an attempt, with a last line that counts the omitted lines", async () => {
    const h = await setUp(({ log }) => {
      for (let i = 0; i < noteLimits.logLines + 20; i++) log.debug(`${i}`);
    });
    h.give();
    await h.ended();
    const lines = notesOf(h.transport, "log").flatMap((note) => note.lines);
    expect(lines).toHaveLength(noteLimits.logLines + 1);
    expect(lines.at(-1)).toMatchObject({ level: "warn", message: expect.stringContaining("20 more lines") as string });
  });

  it("ends a run although its log cannot be sent", async () => {
    const h = await setUp(({ log }) => log.info("lost"));
    for (let i = 0; i < 20; i++) h.transport.noteErrors.push(new Error("connection lost"));
    h.give();
    for (let i = 0; i < 12; i++) {
      await settled();
      h.timers.advance(500);
    }
    expect(await h.ended()).toMatchObject({ kind: "succeeded" });
  });
});

describe("a handler", () => {
  it("throws from the heartbeat of a handler whose run another worker has", async () => {
    const h = await setUp(async ({ heartbeat }) => {
      for (;;) await heartbeat();
    });
    h.transport.answer = () => ({ kind: "lost" });
    h.give();
    expect(await h.ended()).toMatchObject({ error: { type: "RunStoppedError" } });
  });

  it("returns the last success of a recurring job, and null for a one-off job", async () => {
    const h = await setUp(({ previousSuccess }) => previousSuccess(), { jobId: "j1" });
    h.transport.answer = () => ({ kind: "value", valueJson: '{"rows":5}', at: 1_000 });
    h.give();
    expect(await h.ended()).toMatchObject({ outputJson: '{"finishedAt":1000,"output":{"rows":5}}' });
    const other = await setUp(({ previousSuccess }) => previousSuccess(), { jobId: "r1" });
    other.give();
    expect(await other.ended()).toMatchObject({ outputJson: "null" });
    expect(other.transport.noted).toEqual([]);
  });

  it("returns the upstream runs that started a run, or an empty list", async () => {
    const h = await setUp(({ upstream }) => upstream(), { jobId: "j1" });
    const run = { run_id: "u1", job_id: "j0", job_key: "etl", status: "succeeded", reason: null, finished_at: 9 };
    const valueJson = JSON.stringify([{ ...run, output: { rows: 5 }, output_cut: false, error: null }]);
    h.transport.answer = () => ({ kind: "value", valueJson, at: 9 });
    h.give();
    const ended = (await h.ended()) as { readonly outputJson: string };
    expect(JSON.parse(ended.outputJson)).toMatchObject([{ runId: "u1", jobKey: "etl", output: { rows: 5 } }]);
    expect(h.transport.noted).toMatchObject([[{ kind: "upstream" }]]);
    const other = await setUp(({ upstream }) => upstream(), { jobId: "j1" });
    other.give();
    expect(await other.ended()).toMatchObject({ outputJson: "[]" });
  });

  it("reports a handler that ignores its signal, and drops its late result [INV-4]", async () => {
    let release: (value: string) => void = () => undefined;
    const h = await setUp(() => new Promise((resolve) => (release = resolve)), { timeoutMs: 1_000 });
    h.give();
    h.timers.advance(1_000);
    expect(await h.ended()).toMatchObject({ kind: "failed", reason: "timeout" });
    h.timers.advance(5_000);
    const about = { runId: "r1", task: "work", reason: "timeout" };
    expect(h.events).toContainEqual({ type: "run.signal_ignored", ...about, afterMs: 5_000 });
    h.timers.advance(2_000);
    release("late");
    await settled();
    expect(h.events).toContainEqual({ type: "run.ended_late", ...about, afterMs: 7_000 });
    expect(h.transport.completions).toHaveLength(1);
  });

  it("does not report a handler that ends on its signal", async () => {
    const obedient = ({ signal }: TaskContext) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const h = await setUp(obedient, { timeoutMs: 1_000 });
    h.give();
    h.timers.advance(1_000);
    await h.ended();
    h.timers.advance(5_000);
    expect(h.events.filter((event) => event.type.startsWith("run."))).toMatchObject([
      { type: "run.attempt_failed", error: { type: "TimeoutError" } },
    ]);
  });

  it.each([
    ["timeout", (h: Awaited<ReturnType<typeof setUp>>) => h.timers.advance(1_000)],
    ["session_lost", (h: Awaited<ReturnType<typeof setUp>>) => h.transport.events.onLost()],
    [
      "cancelled_by_job",
      (h: Awaited<ReturnType<typeof setUp>>) =>
        h.transport.events.onStop([{ runId: "r1", fence: 2, reason: "cancelled_by_job" }]),
    ],
  ])("gives the signal of a handler the reason of the stop: %s", async (reason, stop) => {
    let signal: AbortSignal | null = null;
    const h = await setUp(
      (context) => {
        ({ signal } = context);
        return new Promise(() => undefined);
      },
      { timeoutMs: 1_000 },
    );
    h.give();
    stop(h);
    const given = (signal as AbortSignal | null)?.reason as unknown;
    expect(given).toBeInstanceOf(RunStoppedError);
    expect(given).toMatchObject({ reason });
  });
});
