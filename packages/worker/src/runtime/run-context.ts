import { type Assignment, type DurationMs, type Instant, noteLimits, shownId } from "@carillon/core";
import type { TracePlace } from "../trace/span.js";
import { keptJson } from "./kept-value.js";
import { Memo } from "./memo.js";
import type { Notebook } from "./notebook.js";
import { openCallback } from "./open-callback.js";
import { RunNotes } from "./run-notes.js";
import type { StopSignal } from "./stop-signal.js";
import type { Checkpoint, OnceOptions, TaskContext, TaskLog, Work } from "./task.js";
import { upstreamRuns } from "./upstream-runs.js";
import type { WorkerTimers } from "./timers.js";

export interface ContextOptions {
  readonly stop: StopSignal;
  readonly notebook: Notebook;
  readonly timers: WorkerTimers;
}

/** Between two heartbeats of a run that go to the server. */
const heartbeatEveryMs: DurationMs = 1_000;

/** What a handler is given beside its payload. What most handlers never ask for is made when one does, and may be taken out of it. */
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
  #notes: RunNotes | null = null;
  #memo: Memo | null = null;
  #checkpoint: Checkpoint | null = null;
  #log: TaskLog | null = null;
  #heartbeatAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(assignment: Assignment, options: ContextOptions, trace?: TracePlace) {
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
      load: <Value>() => this.#left.load(this.#isFirst) as Promise<Value | undefined>,
      save: async (value) => this.#left.save(keptJson("a checkpoint", value)),
    });
  }

  get log(): TaskLog {
    const left = this.#left;
    return (this.#log ??= {
      debug: (message, fields) => left.log("debug", message, fields),
      info: (message, fields) => left.log("info", message, fields),
      warn: (message, fields) => left.log("warn", message, fields),
      error: (message, fields) => left.log("error", message, fields),
    });
  }

  get progress(): TaskContext["progress"] {
    return (fraction, text) => {
      // None of nothing is not a number, and no reason to fail.
      const within = Number.isNaN(fraction) ? 0 : Math.min(1, Math.max(0, fraction));
      this.#left.progress(within, text?.slice(0, noteLimits.progressTextLength) ?? null);
    };
  }

  get step(): TaskContext["step"] {
    return <Result>(name: string, work: Work<Result>) => this.#parts.step(name, work) as Promise<Result>;
  }

  get once(): TaskContext["once"] {
    return <Result>(key: string, work: Work<Result>, { keepMs = noteLimits.onceKeepMs }: OnceOptions = {}) =>
      this.#parts.once(key, work, keepMs) as Promise<Result>;
  }

  get previousSuccess(): TaskContext["previousSuccess"] {
    return async () => {
      const { jobId, runId } = this.#assignment;
      // The run of a one-off job has its job's id: none was before it.
      if (jobId === null || jobId === runId) return null;
      const answer = await this.#left.ask({ kind: "last_success" });
      if (answer.kind !== "value") return null;
      return { finishedAt: answer.at, output: JSON.parse(answer.valueJson) as unknown };
    };
  }

  get upstream(): TaskContext["upstream"] {
    return async () => {
      const answer = await this.#left.ask({ kind: "upstream" });
      return answer.kind === "value" ? upstreamRuns(answer.valueJson) : [];
    };
  }

  get callback(): TaskContext["callback"] {
    return () => openCallback((content) => this.#left.ask(content));
  }

  get heartbeat(): TaskContext["heartbeat"] {
    return async () => {
      const { timers, stop } = this.#options;
      const now = timers.monotonic();
      if (now - this.#heartbeatAt >= heartbeatEveryMs) {
        this.#heartbeatAt = now;
        await this.#left.ask({ kind: "alive" });
      }
      await new Promise<void>((resolve) => timers.soon(resolve));
      if (stop.reason !== null) throw stop.reason;
    };
  }

  /** The handler has ended. Resolves when what it left behind is settled; null: nothing is under way. */
  close(): Promise<unknown> | null {
    return this.#notes?.close() ?? null;
  }

  /** Nobody had the run before: nothing can be kept of it. */
  get #isFirst(): boolean {
    return this.fence === 1;
  }

  get #left(): RunNotes {
    const { stop, notebook, timers } = this.#options;
    return (this.#notes ??= new RunNotes(this.#assignment, stop, notebook, timers));
  }

  get #parts(): Memo {
    return (this.#memo ??= new Memo(this.#left, this.#isFirst));
  }
}
