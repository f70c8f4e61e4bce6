import { createHash } from "node:crypto";
import {
  type Assignment,
  type CallbackAnswer,
  type DurationMs,
  type Instant,
  noteLimits,
  shownId,
  systemRandomBytes,
} from "@carillon/core";
import type { TraceHeaders } from "../trace/span.js";
import { AwaitCallbackError } from "./errors.js";
import { HandlerState, RecordedSteps } from "./handler-state.js";
import type { StateSender } from "./state-sender.js";
import type { StopSignal } from "./stop-signal.js";
import type { Callback, Checkpoint, OnceOptions, TaskContext, TaskLog, UpstreamRun, Work } from "./task.js";
import type { WorkerTimers } from "./timers.js";

export interface ContextOptions {
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
export class RunContext implements TaskContext {
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
    return <Result>(key: string, work: Work<Result>, { keepMs = noteLimits.onceKeepMs }: OnceOptions = {}) =>
      this.#steps.once(key, work, keepMs) as Promise<Result>;
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
    return this.fence === 1;
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
