import { describe, expect, it } from "vitest";
import { NonRetryableError, RetryAfterError, SnoozeError, task, type TaskContext } from "../../../src/index.js";
import { TestKit } from "../../../src/testkit/index.js";

const now = new Date("2030-01-01T00:00:00Z");
const at = (run: { scheduledFor: Date }): string => run.scheduledFor.toISOString();

/** A kit with one task, whose handler is the test. */
function kitOf(run: (payload: unknown, ctx: TaskContext) => unknown, over: object = {}) {
  const work = task({ name: "work", run, ...over });
  return { work, kit: new TestKit({ tasks: [work], now }) };
}

describe("schedules on a virtual clock", () => {
  it("the kit runs a year of schedules in seconds, each occurrence once, at its time", async () => {
    const { work, kit } = kitOf((_payload, ctx) => ctx.scheduledFor);
    await kit.schedule(work, "hourly", { cron: "0 * * * *" });
    await kit.schedule(work, "local", { cron: "30 2 * * *", timeZone: "Europe/Paris", payload: "local" });
    await kit.advanceTo(new Date("2031-01-01T00:00:00Z"));
    const [local, hourly] = [true, false].map((is) => kit.runs.filter((run) => (run.payload === "local") === is));
    expect(hourly).toHaveLength(365 * 24);
    expect(new Set(hourly?.map(at)).size).toBe(365 * 24);
    // 31 March has no 02:30 in Paris: it fires at the first instant after the gap.
    expect(local?.find((run) => at(run).startsWith("2030-03-31"))?.scheduledFor.toISOString()).toBe(
      "2030-03-31T01:00:00.000Z",
    );
    expect(local).toHaveLength(365);
    expect(kit.runs.every((run) => run.startedAt.getTime() === run.scheduledFor.getTime())).toBe(true);
  });

  it("the kit works as the testing guide shows", async () => {
    const { work, kit } = kitOf(
      (_payload, ctx) => {
        if (ctx.attempt === 1) throw new Error("not yet");
        return { attempt: ctx.attempt };
      },
      { retry: { maxAttempts: 3, backoff: "fixed", initial: "10m", jitter: "none" } },
    );
    await kit.schedule(work, "monthly", { cron: "0 9 1 * *", timeZone: "Europe/Paris" });
    await kit.advanceTo(new Date("2031-01-01T00:00:00Z"));
    expect(kit.runs).toHaveLength(12);
    expect(kit.runs[0]).toMatchObject({ attempts: 2, startedAt: new Date("2030-01-01T08:10:00Z") });
  });

  it("the kit fires nothing until the clock is moved", async () => {
    const { work, kit } = kitOf(() => null);
    await kit.schedule(work, "k", { every: "15m" });
    await kit.advance("14m");
    expect(kit.runs).toEqual([]);
    await kit.advance("1m");
    expect(kit.runs).toHaveLength(1);
    expect(kit.now.toISOString()).toBe("2030-01-01T00:15:00.000Z");
  });

  it("the kit follows the overlap policy while a handler sleeps on its clock", async () => {
    const slow = task({ name: "slow", run: (): Promise<void> => kit.sleep("150s") });
    const kit = new TestKit({ tasks: [slow], now });
    const jobId = await kit.schedule(slow, "minutely", { cron: "* * * * *" });
    await kit.advance("6m");
    expect(kit.runs.map(at)).toEqual(["2030-01-01T00:01:00.000Z"]);
    await kit.advance("30s");
    expect(kit.runs.map(at)).toEqual(["2030-01-01T00:01:00.000Z", "2030-01-01T00:04:00.000Z"]);
    expect(kit.passed).toMatchObject([
      { jobId, reason: "overlap" },
      { jobId, reason: "overlap" },
    ]);
  });

  it("the kit refuses a duplicate key and an invalid schedule", async () => {
    const { work, kit } = kitOf(() => null);
    await kit.schedule(work, "k", { every: "1h" });
    await expect(kit.schedule(work, "k", { every: "1h" })).rejects.toMatchObject({ code: "key_taken" });
    await expect(kit.schedule(work, "l", { cron: "61 * * * *" })).rejects.toThrow(/61/);
  });
});

describe("a task under test", () => {
  it("a task in the kit gets the same context as in production", async () => {
    const { work, kit } = kitOf(async (payload, ctx) => {
      ctx.log.info("begun", { payload });
      ctx.progress(0.5, "half");
      await ctx.checkpoint.save({ row: 1 });
      const step = await ctx.step("a", () => 7);
      return { step, checkpoint: await ctx.checkpoint.load(), key: ctx.idempotencyKey };
    });
    const run = await kit.run(work, { n: 1 });
    expect(run).toMatchObject({
      status: "succeeded",
      attempts: 1,
      output: { step: 7, checkpoint: { row: 1 }, key: run.id },
      logs: [{ level: "info", message: "begun", fields: { payload: { n: 1 } } }],
      progress: { fraction: 0.5, text: "half" },
    });
  });

  it("the kit retries a task by its policy, and keeps its checkpoint", async () => {
    const seen: unknown[] = [];
    const retry = { maxAttempts: 3, backoff: "fixed", initial: "10m", jitter: "none" } as const;
    const { work, kit } = kitOf(
      async (_payload, ctx) => {
        seen.push([ctx.attempt, (await ctx.checkpoint.load()) ?? null]);
        await ctx.checkpoint.save(ctx.attempt);
        await ctx.step("once", () => seen.push("step"));
        throw new Error(`attempt ${ctx.attempt}`);
      },
      { retry },
    );
    const run = await kit.run(work, null);
    expect(run).toMatchObject({ status: "failed", attempts: 3, error: { type: "Error", message: "attempt 3" } });
    expect(seen).toEqual([[1, null], "step", [2, 1], [3, 2]]);
    expect(run.finishedAt.toISOString()).toBe("2030-01-01T00:20:00.000Z");
  });

  it("the kit follows NonRetryableError and RetryAfterError", async () => {
    const { work, kit } = kitOf((payload) => {
      throw payload === "never" ? new NonRetryableError("no") : new RetryAfterError("1h", "later");
    });
    expect(await kit.run(work, "never")).toMatchObject({ status: "failed", attempts: 1 });
    const before = kit.now.getTime();
    const later = await kit.run(work, "later");
    expect(later.finishedAt.getTime() - before).toBeGreaterThanOrEqual(3_600_000);
  });

  it("the kit snoozes a run without spending an attempt", async () => {
    let calls = 0;
    const { work, kit } = kitOf(() => {
      calls += 1;
      if (calls < 3) throw new SnoozeError("1m");
      return calls;
    });
    expect(await kit.run(work, null)).toMatchObject({ status: "succeeded", attempts: 1, output: 3 });
    expect(kit.now.toISOString()).toBe("2030-01-01T00:02:00.000Z");
  });

  it("the kit ends a handler at its timeout, and aborts its signal", async () => {
    const reasons: unknown[] = [];
    const stuck = task({
      name: "stuck",
      timeout: "2m",
      retry: { maxAttempts: 1 },
      run: async (_payload, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        await kit.sleep("1h");
      },
    });
    const kit = new TestKit({ tasks: [stuck], now });
    expect(await kit.run(stuck, null)).toMatchObject({ status: "failed", error: { type: "TimeoutError" } });
    expect(reasons).toMatchObject([{ reason: "timeout" }]);
  });

  it("the kit provides the last success of a job, and runs a once block once", async () => {
    const { work, kit } = kitOf(async (_payload, ctx) => ({
      before: (await ctx.previousSuccess())?.finishedAt ?? null,
      once: await ctx.once("k", () => ctx.scheduledFor),
    }));
    await kit.schedule(work, "k", { every: "1h" });
    await kit.advance("2h");
    const first = now.getTime() + 3_600_000;
    expect(kit.runs.map((run) => run.output)).toEqual([
      { before: null, once: first },
      { before: first, once: first },
    ]);
  });

  it("the kit passes the upstream runs of the test to the handler", async () => {
    const { work, kit } = kitOf((_payload, ctx) => ctx.upstream());
    const ended = await kit.run(work, null, { upstream: [{ jobKey: "etl", output: { rows: 3 } }] });
    expect(ended.output).toMatchObject([{ jobKey: "etl", status: "succeeded", output: { rows: 3 } }]);
    expect((await kit.run(work, null)).output).toEqual([]);
  });

  it("the kit reports a handler that waits for something else than its clock", async () => {
    const hanging = task({ name: "hanging", run: () => new Promise<void>(() => undefined) });
    const kit = new TestKit({ tasks: [hanging], now, timeoutMs: 20 });
    await expect(kit.run(hanging, null)).rejects.toThrow(/hanging waits for something that is not the kit's clock/);
  });
});

describe("runs that handlers create", () => {
  it("the kit executes them, and creates one for each key, however many attempts ask for it", async () => {
    const leaf = task({ name: "leaf", run: ({ n }: { n: number }) => n });
    const parent = task({
      name: "parent",
      run: async (_payload: null, ctx) => {
        await ctx.enqueue(leaf, { n: 1 });
        if (ctx.attempt === 1) throw new Error("the first attempt fails");
        await ctx.enqueueMany(leaf, [{ payload: { n: 2 } }, { payload: { n: 3 }, delay: "1h" }]);
      },
    });
    const kit = new TestKit({ tasks: [parent, leaf] });
    await kit.run(parent, null);
    await kit.advance("2h");
    expect(kit.runs.filter((one) => one.task === "leaf").map((one) => one.output)).toEqual([1, 2, 3]);
  });
});
