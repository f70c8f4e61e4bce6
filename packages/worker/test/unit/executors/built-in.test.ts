import { describe, expect, it } from "vitest";
import { builtInTasks, NonRetryableError, type TaskContext } from "../../../src/index.js";

const timers = {
  setTimeout: (callback: () => void): unknown => {
    queueMicrotask(callback);
    return null;
  },
  clearTimeout: (): void => undefined,
};

const never = { setTimeout: (): unknown => null, clearTimeout: (): void => undefined };

function run(
  name: string,
  payload: unknown,
  over: Partial<TaskContext> = {},
  ticking: typeof timers | typeof never = timers,
): unknown {
  const task = builtInTasks(ticking).find((one) => one.name === name);
  if (task === undefined) throw new Error(`no task ${name}`);
  const { signal } = new AbortController();
  const what = { runId: "r1", jobId: null, task: name, queue: "default", attempt: 1, maxAttempts: 5 };
  const context = { ...what, idempotencyKey: "r1", fence: 2, scheduledFor: 0, signal, ...over };
  // The built-in tasks use no other members.
  return task.run(payload, context as TaskContext);
}

describe("echo", () => {
  it("returns its payload", () => {
    expect(run("echo", { a: 1 })).toEqual({ a: 1 });
  });
});

describe("sleep", () => {
  it.each([
    [{ for: "2s" }, 2_000],
    [{ ms: 10 }, 10],
    [null, 1_000],
  ])("sleeps for the time in the payload %j", async (payload, ms) => {
    expect(await run("sleep", payload)).toEqual({ slept_ms: ms });
  });

  it.each([{ for: "soon" }, { for: true }, { ms: -1 }, "2s"])(
    "refuses the payload %j without a retry",
    async (payload) => {
      await expect(Promise.resolve().then(() => run("sleep", payload))).rejects.toBeInstanceOf(NonRetryableError);
    },
  );

  it("ends a sleep when its signal fires", async () => {
    const controller = new AbortController();
    const sleeping = run("sleep", { for: "1h" }, { signal: controller.signal }, never);
    controller.abort(new Error("stop now"));
    await expect(sleeping).rejects.toThrow("stop now");
  });
});

describe("fail", () => {
  it("fails with its message, and without a retry if the payload says so", () => {
    expect(() => run("fail", { message: "no" })).toThrow("no");
    expect(() => run("fail", { retryable: false })).toThrow(NonRetryableError);
  });

  it("succeeds after the number of failures in its payload", () => {
    expect(() => run("fail", { times: 2 }, { attempt: 2 })).toThrow("failed on purpose");
    expect(run("fail", { times: 2 }, { attempt: 3 })).toEqual({ failed_before: 2 });
  });
});
