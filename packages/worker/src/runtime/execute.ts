import { type Assignment, type DurationMs, type Outcome, timeoutOutcome } from "@carillon/core";
import { NonRetryableError, outcomeOfError } from "./errors.js";
import { RunContext } from "./run-context.js";
import type { StopSignal } from "./stop-signal.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";

/** Calls the task's handler and says how it ended. Never throws; a result that is not JSON is a failure. */
export async function execute(
  task: Task | undefined,
  assignment: Assignment,
  stop: StopSignal,
  timers: WorkerTimers,
): Promise<Outcome> {
  if (task === undefined) {
    return outcomeOfError(new NonRetryableError(`this worker has no task ${JSON.stringify(assignment.task)}`));
  }
  const handled = callHandler(task, assignment, stop);
  const { timeoutMs } = assignment;
  return timeoutMs === null ? handled : raceTimeout(handled, timeoutMs, stop, timers);
}

async function callHandler(task: Task, assignment: Assignment, stop: StopSignal): Promise<Outcome> {
  try {
    const output = await task.run(assignment.payload, new RunContext(assignment, stop));
    return { kind: "succeeded", outputJson: output === undefined ? "null" : jsonOf(output) };
  } catch (error) {
    return outcomeOfError(error);
  }
}

/** The signal comes first, so that a handler which heeds it can clean up; its result is too late in any case. */
async function raceTimeout(
  handled: Promise<Outcome>,
  timeoutMs: DurationMs,
  stop: StopSignal,
  timers: WorkerTimers,
): Promise<Outcome> {
  let timer: unknown;
  const timedOut = new Promise<Outcome>((resolve) => {
    timer = timers.setTimeout(() => {
      const outcome = timeoutOutcome(timeoutMs);
      stop.abort(new Error(`timeout of ${timeoutMs} ms`));
      resolve(outcome);
    }, timeoutMs);
  });
  try {
    return await Promise.race([timedOut, handled]);
  } finally {
    timers.clearTimeout(timer);
  }
}

/** A function or a symbol is no JSON and becomes null, as within an object it would be left out. */
function jsonOf(output: unknown): string {
  const text: string | undefined = JSON.stringify(output);
  return text ?? "null";
}
