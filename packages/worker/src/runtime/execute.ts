import { type Assignment, type DurationMs, type Outcome, pending, timeoutOutcome } from "@carillon/core";
import { NonRetryableError, outcomeOfError, RunStoppedError } from "./errors.js";
import { type ContextOptions, RunContext } from "./run-context.js";
import type { OpenSpan } from "../trace/span.js";
import { beginRunSpan, endRunSpan } from "./run-span.js";
import type { Task } from "./task.js";

export interface ExecuteOptions extends ContextOptions {
  /** The handler itself has ended, in time or not. */
  onSettled(): void;
}

/** A handler that left something behind is over when that has arrived, but nobody waits for it longer than this. */
const longestCloseMs: DurationMs = 5_000;

/**
 * Calls the task's handler and says how it ended; at once, if it did and left nothing behind: a short run costs no promise.
 * Never throws; a result that is not JSON is a failure.
 */
export function execute(
  task: Task | undefined,
  assignment: Assignment,
  options: ExecuteOptions,
): Outcome | Promise<Outcome> {
  if (task === undefined) {
    options.onSettled();
    return outcomeOfError(new NonRetryableError(`this worker has no task ${JSON.stringify(assignment.task)}`));
  }
  const span = beginRunSpan(assignment);
  const context = new RunContext(assignment, options, span);
  const handled = span.run(() => callHandler(task, assignment, context));
  const begun = { context, span, options };
  if (handled instanceof Promise) return follow(handled, assignment.timeoutMs, begun);
  options.onSettled();
  return close(handled, begun);
}

interface Begun {
  readonly context: RunContext;
  readonly span: OpenSpan;
  readonly options: ExecuteOptions;
}

function callHandler(task: Task, assignment: Assignment, context: RunContext): Outcome | Promise<Outcome> {
  try {
    const output = task.run(assignment.payload, context);
    return isThenable(output) ? Promise.resolve(output).then(succeeded, outcomeOfError) : succeeded(output);
  } catch (error) {
    return outcomeOfError(error);
  }
}

function follow(handled: Promise<Outcome>, timeoutMs: DurationMs | null, begun: Begun): Promise<Outcome> {
  const { options } = begun;
  if (timeoutMs !== null) return raceTimeout(handled, timeoutMs, options).then((outcome) => close(outcome, begun));
  return handled.then((outcome) => {
    options.onSettled();
    return close(outcome, begun);
  });
}

/** Notes need the claim, which the result ends. */
function close(outcome: Outcome, begun: Begun): Outcome | Promise<Outcome> {
  const left = begun.context.close();
  if (left !== null) return closeLater(outcome, left, begun);
  endRunSpan(begun.span, outcome);
  return outcome;
}

async function closeLater(outcome: Outcome, left: Promise<unknown>, { span, options }: Begun): Promise<Outcome> {
  await within(longestCloseMs, left, options);
  endRunSpan(span, outcome);
  return outcome;
}

/** The signal comes first, so that a handler which heeds it can clean up; its result is too late in any case. */
function raceTimeout(handled: Promise<Outcome>, timeoutMs: DurationMs, options: ExecuteOptions): Promise<Outcome> {
  const { timers } = options;
  const { promise, resolve } = pending<Outcome>();
  const timer = timers.setTimeout(() => {
    options.stop.abort(new RunStoppedError("timeout", `timeout of ${timeoutMs} ms`));
    resolve(timeoutOutcome(timeoutMs));
  }, timeoutMs);
  void handled.then((outcome) => {
    timers.clearTimeout(timer);
    options.onSettled();
    resolve(outcome);
  });
  return promise;
}

async function within(limitMs: DurationMs, work: Promise<unknown>, { timers }: Pick<ContextOptions, "timers">) {
  let timer: unknown;
  await Promise.race([work, new Promise<void>((resolve) => void (timer = timers.setTimeout(resolve, limitMs)))]);
  timers.clearTimeout(timer);
}

const withoutOutput: Outcome = Object.freeze({ kind: "succeeded", outputJson: "null" });

/** A function or a symbol is no JSON and becomes null, as within an object it would be left out. */
function succeeded(output: unknown): Outcome {
  if (output === undefined) return withoutOutput;
  try {
    const outputJson: string | undefined = JSON.stringify(output);
    return outputJson === undefined ? withoutOutput : { kind: "succeeded", outputJson };
  } catch (error) {
    return outcomeOfError(error);
  }
}

function isThenable(output: unknown): output is PromiseLike<unknown> {
  if (output === null || (typeof output !== "object" && typeof output !== "function")) return false;
  return "then" in output && typeof output.then === "function";
}
