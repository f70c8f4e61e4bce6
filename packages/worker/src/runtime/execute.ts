import { type Assignment, type DurationMs, type Outcome, pending, shownId, timeoutOutcome } from "@carillon/core";
import { beginSpan, isTraced, noSpan, type OpenSpan } from "../trace/span.js";
import { errorOutcome, NonRetryableError, RunStoppedError, type StopReason } from "./errors.js";
import { type ContextOptions, RunContext } from "./run-context.js";
import { StateSender } from "./state-sender.js";
import { StopSignal } from "./stop-signal.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface ExecuteOptions extends ContextOptions {
  /** The handler itself has ended, in time or late. */
  onHandlerEnd(): void;
}

/** The outcome waits until the handler's state is stored, but no longer than this. */
const maxFlushMs: DurationMs = 5_000;

/**
 * Calls the task's handler and returns its outcome; synchronously if the handler ended and left no state to store, so that a short run
 * costs no promise. Never throws. A result that is not JSON is a failure.
 */
export function execute(
  task: Task | undefined,
  assignment: Assignment,
  options: ExecuteOptions,
): Outcome | Promise<Outcome> {
  if (task === undefined) {
    options.onHandlerEnd();
    return errorOutcome(new NonRetryableError(`this worker has no task ${JSON.stringify(assignment.task)}`));
  }
  const span = beginRunSpan(assignment);
  const context = new RunContext(assignment, options, span);
  const handled = span.run(() => callHandler(task, assignment, context));
  const attempt = { context, span, options };
  if (handled instanceof Promise) return finishLater(handled, assignment.timeoutMs, attempt);
  options.onHandlerEnd();
  return finish(handled, attempt);
}

interface StartedAttempt {
  readonly context: RunContext;
  readonly span: OpenSpan;
  readonly options: ExecuteOptions;
}

function callHandler(task: Task, assignment: Assignment, context: RunContext): Outcome | Promise<Outcome> {
  try {
    const output = task.run(assignment.payload, context);
    return isThenable(output) ? Promise.resolve(output).then(successOutcome, errorOutcome) : successOutcome(output);
  } catch (error) {
    return errorOutcome(error);
  }
}

function finishLater(
  handled: Promise<Outcome>,
  timeoutMs: DurationMs | null,
  attempt: StartedAttempt,
): Promise<Outcome> {
  const { options } = attempt;
  if (timeoutMs !== null) return raceTimeout(handled, timeoutMs, options).then((outcome) => finish(outcome, attempt));
  return handled.then((outcome) => {
    options.onHandlerEnd();
    return finish(outcome, attempt);
  });
}

/** Waits for the handler's state to be stored: that needs the claim, which the result ends. */
function finish(outcome: Outcome, attempt: StartedAttempt): Outcome | Promise<Outcome> {
  const unstored = attempt.context.close();
  if (unstored !== null) return finishAfter(unstored, outcome, attempt);
  endRunSpan(attempt.span, outcome);
  return outcome;
}

async function finishAfter(
  unstored: Promise<unknown>,
  outcome: Outcome,
  { span, options: { timers } }: StartedAttempt,
): Promise<Outcome> {
  let timer: unknown;
  await Promise.race([unstored, new Promise<void>((resolve) => void (timer = timers.setTimeout(resolve, maxFlushMs)))]);
  timers.clearTimeout(timer);
  endRunSpan(span, outcome);
  return outcome;
}

/** The signal fires first, so that the handler can clean up; its result is too late in any case. */
function raceTimeout(handled: Promise<Outcome>, timeoutMs: DurationMs, options: ExecuteOptions): Promise<Outcome> {
  const { timers } = options;
  const { promise, resolve } = pending<Outcome>();
  const timer = timers.setTimeout(() => {
    options.stop.abort(new RunStoppedError("timeout", `timeout of ${timeoutMs} ms`));
    resolve(timeoutOutcome(timeoutMs));
  }, timeoutMs);
  void handled.then((outcome) => {
    timers.clearTimeout(timer);
    options.onHandlerEnd();
    resolve(outcome);
  });
  return promise;
}

const withoutOutput: Outcome = Object.freeze({ kind: "succeeded", outputJson: "null" });

/** A function or a symbol is not JSON and becomes null; inside an object, JSON.stringify omits it. */
function successOutcome(output: unknown): Outcome {
  if (output === undefined) return withoutOutput;
  try {
    const outputJson: string | undefined = JSON.stringify(output);
    return outputJson === undefined ? withoutOutput : { kind: "succeeded", outputJson };
  } catch (error) {
    return errorOutcome(error);
  }
}

function isThenable(output: unknown): output is PromiseLike<unknown> {
  if (output === null || (typeof output !== "object" && typeof output !== "function")) return false;
  return "then" in output && typeof output.then === "function";
}

/** The span of one attempt, in the trace of the caller that created the run. */
function beginRunSpan(assignment: Assignment): OpenSpan {
  const { task, traceparent, tracestate } = assignment;
  if (traceparent === undefined && !isTraced()) return noSpan;
  const span = beginSpan({ name: `run ${task}`, kind: "consumer", parent: { traceparent, tracestate } });
  if (span.isSeen) {
    span.note({
      "carillon.task": task,
      "carillon.queue": assignment.queue,
      "carillon.run.id": shownId("run", assignment.runId),
      "carillon.run.attempt": assignment.attempt,
      ...(assignment.jobId !== null && { "carillon.job.id": shownId("job", assignment.jobId) }),
    });
  }
  return span;
}

/** Only a failure marks the span as an error: a cancelled or snoozed run ended as intended. */
function endRunSpan(span: OpenSpan, outcome: Outcome): void {
  if (span.isSeen) span.note({ "carillon.run.outcome": outcome.kind });
  if (outcome.kind === "failed") span.fail(outcome.error);
  span.end();
}

export interface AttemptOptions {
  /** Stores and loads the handler's state. */
  readonly note: Transport["note"];
  readonly timers: WorkerTimers;
}

export interface Attempt {
  readonly outcome: Promise<Outcome>;
  /** Fires the handler's signal. */
  stop(reason: StopReason): void;
}

/** Executes one attempt without a worker, with the full context of a handler. */
export function runAttempt(task: Task, assignment: Assignment, { note, timers }: AttemptOptions): Attempt {
  const stop = new StopSignal();
  const fire = (reason: StopReason): void => stop.abort(new RunStoppedError(reason));
  const stateSender = new StateSender({
    transport: { note, isSessionLost: () => true },
    timers,
    onLost: () => fire("claim_lost"),
    onFailure: () => undefined,
  });
  const outcome = execute(task, assignment, { stop, timers, stateSender, onHandlerEnd: () => undefined });
  return { outcome: Promise.resolve(outcome), stop: fire };
}
