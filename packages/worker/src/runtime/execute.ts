import type { Assignment, DurationMs, Outcome } from "@carillon/core";
import { NonRetryableError, outcomeOfError, timeoutOutcome } from "./errors.js";
import type { Task, TaskContext } from "./task.js";
import type { WorkerTimers } from "./timers.js";

/** Calls the task's handler and says how it ended. Never throws; a result that is not JSON is a failure. */
export async function execute(
  task: Task | undefined,
  assignment: Assignment,
  controller: AbortController,
  timers: WorkerTimers,
): Promise<Outcome> {
  if (task === undefined) {
    return outcomeOfError(new NonRetryableError(`this worker has no task ${JSON.stringify(assignment.task)}`));
  }
  const handled = callHandler(task, assignment, controller.signal);
  const { timeoutMs } = assignment;
  return timeoutMs === null ? handled : raceTimeout(handled, timeoutMs, controller, timers);
}

async function callHandler(task: Task, assignment: Assignment, signal: AbortSignal): Promise<Outcome> {
  try {
    const output = await task.run(assignment.payload, contextOf(assignment, signal));
    return { kind: "succeeded", output: toJson(output) };
  } catch (error) {
    return outcomeOfError(error);
  }
}

/** The signal comes first, so that a handler which heeds it can clean up; its result is too late in any case. */
async function raceTimeout(
  handled: Promise<Outcome>,
  timeoutMs: DurationMs,
  controller: AbortController,
  timers: WorkerTimers,
): Promise<Outcome> {
  let timer: unknown;
  const timedOut = new Promise<Outcome>((resolve) => {
    timer = timers.setTimeout(() => {
      const outcome = timeoutOutcome(timeoutMs);
      controller.abort(new Error(`timeout of ${timeoutMs} ms`));
      resolve(outcome);
    }, timeoutMs);
  });
  try {
    return await Promise.race([timedOut, handled]);
  } finally {
    timers.clearTimeout(timer);
  }
}

function contextOf(assignment: Assignment, signal: AbortSignal): TaskContext {
  const { runId, jobId, task, queue, attempt, maxAttempts, fence, scheduledFor } = assignment;
  return { runId, jobId, task, queue, attempt, maxAttempts, fence, scheduledFor, idempotencyKey: runId, signal };
}

function toJson(output: unknown): unknown {
  const text = JSON.stringify(output) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as unknown);
}
