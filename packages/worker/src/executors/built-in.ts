import { CarillonError, type DurationMs, parseDuration } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { Task } from "../runtime/task.js";
import { wait, type WorkerTimers } from "../runtime/timers.js";

/** The tasks that every node has, without any code of the user. */
export function builtInTasks(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">): Task[] {
  return [echo, sleepTask(timers), fail];
}

/** Returns its payload: the simplest run. */
const echo: Task = { name: "echo", run: (payload) => payload };

/** Waits for `{"for": "2s"}` or `{"ms": 2000}`, or until its signal fires. */
function sleepTask(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">): Task {
  return {
    name: "sleep",
    run: async (payload, { signal }) => {
      const ms = readDelay(readObject("sleep", payload));
      await wait(ms, signal, timers);
      return { slept_ms: ms };
    },
  };
}

function readDelay(payload: Readonly<Record<string, unknown>>): DurationMs {
  const delay = payload["for"] ?? payload["ms"] ?? 1_000;
  if (typeof delay === "number" && Number.isFinite(delay) && delay >= 0) return delay;
  if (typeof delay !== "string") throw new NonRetryableError('sleep wants {"for": "2s"} or {"ms": 2000}');
  try {
    return parseDuration(delay);
  } catch (error) {
    throw error instanceof CarillonError ? new NonRetryableError(error.message) : error;
  }
}

/**
 * Fails on purpose, to demonstrate retries and dead letters: `{"message": "…"}`. With `{"times": 2}` the third attempt succeeds; with
 * `{"retryable": false}` the first failure is the last.
 */
const fail: Task = {
  name: "fail",
  run: (payload, { attempt }) => {
    const { message, times, retryable } = readObject("fail", payload);
    if (typeof times === "number" && attempt > times) return { failed_before: times };
    const text = typeof message === "string" ? message : "failed on purpose";
    throw retryable === false ? new NonRetryableError(text) : new Error(text);
  },
};

/** The payload as an object; null and undefined count as empty. A payload of another type fails for good. */
function readObject(task: string, payload: unknown): Readonly<Record<string, unknown>> {
  if (payload === null || payload === undefined) return {};
  if (typeof payload === "object" && !Array.isArray(payload)) return payload as Record<string, unknown>;
  throw new NonRetryableError(`${task} wants an object as its payload, not ${JSON.stringify(payload)}`);
}
