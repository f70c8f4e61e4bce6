import { createHash } from "node:crypto";
import {
  type Assignment,
  type CallbackAnswer,
  type DurationMs,
  type Instant,
  isFirstClaim,
  noteLimits,
  type Outcome,
  pending,
  shownId,
  systemRandomBytes,
  timeoutOutcome,
} from "@carillon/core";
import { beginSpan, isTraced, noSpan, type OpenSpan, type TraceHeaders } from "../trace/span.js";
import { AwaitCallbackError, errorOutcome, NonRetryableError, RunStoppedError, type StopReason } from "./errors.js";
import { checkOnceOptions, HandlerState, RecordedSteps } from "./handler-state.js";
import { StateSender } from "./reporter.js";
import { StopSignal } from "./stop-signal.js";
import type { Callback, Checkpoint, OnceOptions, Task, TaskContext, TaskLog, UpstreamRun, Work } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import type { CreateRuns, Transport } from "./transport.js";

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
  readonly createRuns?: CreateRuns;
}

export interface Attempt {
  readonly outcome: Promise<Outcome>;
  /** Fires the handler's signal. */
  stop(reason: StopReason): void;
}

/** Executes one attempt without a worker, with the full context of a handler. */
export function runAttempt(task: Task, assignment: Assignment, { note, timers, createRuns }: AttemptOptions): Attempt {
  const stop = new StopSignal();
  const fire = (reason: StopReason): void => stop.abort(new RunStoppedError(reason));
  const stateSender = new StateSender({
    transport: { note, isSessionLost: () => true },
    timers,
    onLost: () => fire("claim_lost"),
    onFailure: () => undefined,
  });
  const outcome = execute(task, assignment, {
    stop,
    timers,
    stateSender,
    createRuns,
    onHandlerEnd: () => undefined,
  });
  return { outcome: Promise.resolve(outcome), stop: fire };
}

interface ContextOptions {
  /** Left out: handlers create no runs. */
  readonly createRuns?: CreateRuns | undefined;
  readonly stop: StopSignal;
  readonly stateSender: StateSender;
  readonly timers: WorkerTimers;
}

/** A handler may call `heartbeat` more often than this; the server gets one in this time. */
const heartbeatIntervalMs: DurationMs = 1_000;
const callbackTokenBytes = 32;

/**
 * The second argument of a handler. Its members are getters: each is created on first use, because most handlers use few of them, and
 * can be destructured.
 */
class RunContext implements TaskContext {
  readonly task: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly fence: number;
  readonly scheduledFor: Instant;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly #assignment: Assignment;
  readonly #options: ContextOptions;
  #createdState: HandlerState | null = null;
  #createdSteps: RecordedSteps | null = null;
  #checkpoint: Checkpoint | null = null;
  #log: TaskLog | null = null;
  #heartbeatAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(assignment: Assignment, options: ContextOptions, trace?: TraceHeaders) {
    this.task = assignment.task;
    this.queue = assignment.queue;
    this.attempt = assignment.attempt;
    this.maxAttempts = assignment.maxAttempts;
    this.fence = assignment.fence;
    this.scheduledFor = assignment.scheduledFor;
    this.traceparent = trace?.traceparent;
    this.tracestate = trace?.tracestate;
    this.#assignment = assignment;
    this.#options = options;
  }

  get runId(): string {
    return shownId("run", this.#assignment.runId);
  }

  get jobId(): string | null {
    const { jobId } = this.#assignment;
    return jobId === null ? null : shownId("job", jobId);
  }

  get idempotencyKey(): string {
    return this.runId;
  }

  get signal(): AbortSignal {
    return this.#options.stop.signal;
  }

  get checkpoint(): Checkpoint {
    return (this.#checkpoint ??= {
      load: <Value>() => this.#state.loadCheckpoint(this.#isFirst) as Promise<Value | undefined>,
      save: (value) => this.#state.saveCheckpoint(value),
    });
  }

  get log(): TaskLog {
    const state = this.#state;
    return (this.#log ??= {
      debug: (message, fields) => state.log("debug", message, fields),
      info: (message, fields) => state.log("info", message, fields),
      warn: (message, fields) => state.log("warn", message, fields),
      error: (message, fields) => state.log("error", message, fields),
    });
  }

  get progress(): TaskContext["progress"] {
    return (fraction, text) => {
      // 0 of 0 is NaN, which must not fail the handler.
      const clamped = Number.isNaN(fraction) ? 0 : Math.min(1, Math.max(0, fraction));
      this.#state.progress(clamped, text?.slice(0, noteLimits.progressTextLength) ?? null);
    };
  }

  get step(): TaskContext["step"] {
    return <Result>(name: string, work: Work<Result>) => this.#steps.step(name, work) as Promise<Result>;
  }

  get once(): TaskContext["once"] {
    return async <Result>(key: string, work: Work<Result>, options: OnceOptions = {}) => {
      checkOnceOptions(key, options);
      return (await this.#steps.once(key, work, options.keepMs ?? noteLimits.onceKeepMs)) as Result;
    };
  }

  get previousSuccess(): TaskContext["previousSuccess"] {
    return async () => {
      const { jobId, runId } = this.#assignment;
      // A one-off job shares its id with its only run, which has no predecessor.
      if (jobId === null || jobId === runId) return null;
      const answer = await this.#state.request({ kind: "last_success" });
      if (answer.kind !== "value") return null;
      return { finishedAt: answer.at, output: JSON.parse(answer.valueJson) as unknown };
    };
  }

  get upstream(): TaskContext["upstream"] {
    return async () => {
      const answer = await this.#state.request({ kind: "upstream" });
      return answer.kind === "value" ? toUpstreamRuns(answer.valueJson) : [];
    };
  }

  get callback(): TaskContext["callback"] {
    return () => openCallback(this.#state);
  }

  get createRuns(): NonNullable<TaskContext["createRuns"]> {
    return async (runs) => {
      const { createRuns, stop } = this.#options;
      if (createRuns === undefined) throw new NonRetryableError("The handlers of this worker cannot create runs.");
      if (stop.reason !== null) throw stop.reason;
      const { namespace, traceparent, tracestate } = this.#assignment;
      const trace = this.traceparent === undefined ? { traceparent, tracestate } : this.#ownTrace;
      return createRuns(
        { namespace, ...trace },
        runs.map((run) => ({ ...run, parent_id: this.runId })),
      );
    };
  }

  get #ownTrace(): TraceHeaders {
    return { traceparent: this.traceparent, tracestate: this.tracestate };
  }

  get heartbeat(): TaskContext["heartbeat"] {
    return async () => {
      const { timers, stop } = this.#options;
      const now = timers.monotonic();
      if (now - this.#heartbeatAt >= heartbeatIntervalMs) {
        this.#heartbeatAt = now;
        await this.#state.request({ kind: "heartbeat" });
      }
      await new Promise<void>((resolve) => timers.soon(resolve));
      if (stop.reason !== null) throw stop.reason;
    };
  }

  /** The handler has ended. Resolves when its state is stored; null if there is nothing to wait for. */
  close(): Promise<unknown> | null {
    return this.#createdState?.close() ?? null;
  }

  /** No earlier claim exists, so there is no state to load. */
  get #isFirst(): boolean {
    return isFirstClaim(this.fence);
  }

  get #state(): HandlerState {
    const { stop, stateSender, timers } = this.#options;
    return (this.#createdState ??= new HandlerState(this.#assignment, stop, stateSender, timers));
  }

  get #steps(): RecordedSteps {
    return (this.#createdSteps ??= new RecordedSteps(this.#state, this.#isFirst));
  }
}

/** Sends only the hash of the token to the server, and does so before the handler gets the token. */
async function openCallback(state: HandlerState): Promise<Callback> {
  const token = Buffer.from(systemRandomBytes(callbackTokenBytes)).toString("base64url");
  const tokenHash = createHash("sha256").update(token).digest("hex");
  const answer = await state.request({ kind: "callback", tokenHash });
  return {
    token,
    answer: answer.kind === "value" ? (JSON.parse(answer.valueJson) as CallbackAnswer) : null,
    wait: (waitMs) => new AwaitCallbackError(waitMs),
  };
}

interface WireUpstreamRun {
  readonly run_id: string;
  readonly job_id: string;
  readonly job_key: string | null;
  readonly status: UpstreamRun["status"];
  readonly reason: string | null;
  readonly finished_at: number;
  readonly output: unknown;
  readonly output_cut: boolean;
  readonly error: UpstreamRun["error"];
}

function toUpstreamRuns(json: string): readonly UpstreamRun[] {
  return (JSON.parse(json) as readonly WireUpstreamRun[]).map((run) => ({
    runId: shownId("run", run.run_id),
    jobId: shownId("job", run.job_id),
    jobKey: run.job_key,
    status: run.status,
    reason: run.reason,
    finishedAt: run.finished_at,
    output: run.output,
    isOutputCut: run.output_cut,
    error: run.error,
  }));
}
