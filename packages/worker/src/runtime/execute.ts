import { type Assignment, type DurationMs, type Outcome, timeoutOutcome } from "@carillon/core";
import { NonRetryableError, outcomeOfError, RunStoppedError } from "./errors.js";
import { type ContextOptions, RunContext } from "./run-context.js";
import { beginRunSpan, endRunSpan } from "./run-span.js";
import type { Task } from "./task.js";

export interface ExecuteOptions extends ContextOptions {
  /** The handler itself has ended, in time or not. */
  readonly onSettled: () => void;
}

/** A handler that left something behind is over when that has arrived, but nobody waits for it longer than this. */
const longestCloseMs: DurationMs = 5_000;

/** Calls the task's handler and says how it ended. Never throws; a result that is not JSON is a failure. */
export async function execute(
  task: Task | undefined,
  assignment: Assignment,
  options: ExecuteOptions,
): Promise<Outcome> {
  if (task === undefined) {
    options.onSettled();
    return outcomeOfError(new NonRetryableError(`this worker has no task ${JSON.stringify(assignment.task)}`));
  }
  const span = beginRunSpan(assignment);
  const context = new RunContext(assignment, options, span.traceparent);
  const handled = span.run(() => callHandler(task, assignment, context, options.onSettled));
  const { timeoutMs } = assignment;
  const outcome = await (timeoutMs === null ? handled : raceTimeout(handled, timeoutMs, options));
  // Notes need the claim, which the result ends.
  const left = context.close();
  if (left !== null) await within(longestCloseMs, left, options);
  endRunSpan(span, outcome);
  return outcome;
}

async function callHandler(
  task: Task,
  assignment: Assignment,
  context: RunContext,
  onSettled: () => void,
): Promise<Outcome> {
  try {
    const output = await task.run(assignment.payload, context);
    return { kind: "succeeded", outputJson: output === undefined ? "null" : jsonOf(output) };
  } catch (error) {
    return outcomeOfError(error);
  } finally {
    onSettled();
  }
}

/** The signal comes first, so that a handler which heeds it can clean up; its result is too late in any case. */
async function raceTimeout(
  handled: Promise<Outcome>,
  timeoutMs: DurationMs,
  { stop, timers }: Pick<ContextOptions, "stop" | "timers">,
): Promise<Outcome> {
  let timer: unknown;
  const timedOut = new Promise<Outcome>((resolve) => {
    timer = timers.setTimeout(() => {
      const outcome = timeoutOutcome(timeoutMs);
      stop.abort(new RunStoppedError("timeout", `timeout of ${timeoutMs} ms`));
      resolve(outcome);
    }, timeoutMs);
  });
  try {
    return await Promise.race([timedOut, handled]);
  } finally {
    timers.clearTimeout(timer);
  }
}

async function within(limitMs: DurationMs, work: Promise<unknown>, { timers }: Pick<ContextOptions, "timers">) {
  let timer: unknown;
  await Promise.race([work, new Promise<void>((resolve) => void (timer = timers.setTimeout(resolve, limitMs)))]);
  timers.clearTimeout(timer);
}

/** A function or a symbol is no JSON and becomes null, as within an object it would be left out. */
function jsonOf(output: unknown): string {
  const text: string | undefined = JSON.stringify(output);
  return text ?? "null";
}
