import type { RunCreate, TaskDefaults } from "@carillon/client";
import type { CallbackAnswer, DurationMs, Instant } from "@carillon/core";

/** The second argument of a handler, beside its payload. */
export interface TaskContext {
  /** run_… */
  readonly runId: string;
  /** job_…; null for a run that was enqueued without a job. */
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The run's id, the same for all attempts: send it to services that deduplicate requests. */
  readonly idempotencyKey: string;
  /** Grows with every attempt: an external store can use it to refuse writes of an older attempt. */
  readonly fence: number;
  readonly scheduledFor: Instant;
  /** The trace of this attempt, as a traceparent header; undefined without a trace. */
  readonly traceparent: string | undefined;
  /** The tracestate header beside it, with the data of vendors. */
  readonly tracestate: string | undefined;
  /**
   * Fires on timeout, when the run is cancelled, when the worker stops and its grace time is over, and when its session is lost. Its
   * reason is a RunStoppedError that says which.
   */
  readonly signal: AbortSignal;
  /** Where to continue after a failure or a lost worker: one value per run, shared by all its attempts. */
  readonly checkpoint: Checkpoint;
  /** Log lines, shown with the run. */
  readonly log: TaskLog;
  /** Progress from 0 to 1, shown with the run. The latest value wins; it may be lost. */
  readonly progress: (fraction: number, text?: string) => void;
  /** Executes a part of the run, unless an earlier attempt has: then returns its recorded result. The result must be JSON. */
  readonly step: <Result>(name: string, work: Work<Result>) => Promise<Result>;
  /**
   * Executes work once in the namespace, in the first run that calls it; all others get its result, which must be JSON. Throws a
   * SnoozeError while another run executes it.
   */
  readonly once: <Result>(key: string, work: Work<Result>, options?: OnceOptions) => Promise<Result>;
  /** The last successful run of the same job; null if there is none. */
  readonly previousSuccess: () => Promise<PreviousSuccess | null>;
  /** The runs whose ends started this one, in the order of `after`; empty if the run was started in another way. */
  readonly upstream: () => Promise<readonly UpstreamRun[]>;
  /** A token with which another system may end this run, while the handler is active or after it threw the result of `wait`. */
  readonly callback: () => Promise<Callback>;
  /** Creates runs from requests as the API has them, in the namespace and the trace of this run: `enqueue` of a `task()` uses it. */
  readonly createRuns?: (runs: readonly RunCreate[]) => Promise<readonly CreatedRun[]>;
  /** For long synchronous work: yields to the event loop, and throws if the run must stop or its claim is lost. */
  readonly heartbeat: () => Promise<void>;
}

/** The result of a request for a run. */
export interface CreatedRun {
  /** run_… */
  readonly id: string;
  /** False: this run already existed for the same dedupe key. */
  readonly isNew: boolean;
}

export type Work<Result> = () => Result | PromiseLike<Result>;

export interface Checkpoint {
  /** The value saved last, by this attempt or an earlier one; undefined if there is none. */
  load<Value = unknown>(): Promise<Value | undefined>;
  /** Durable when it resolves. Of several unsent values only the last one is written. */
  save(value: unknown): Promise<void>;
}

/** Never waits and never throws. */
export interface TaskLog {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** The right to end a run, once: `POST /v1/callbacks/{token}`. It expires when this attempt is over. */
export interface Callback {
  readonly token: string;
  /** The answer that arrived before an earlier worker of this attempt was lost: nothing more to wait for. */
  readonly answer: CallbackAnswer | null;
  /** Creates an error to throw: the run then waits without a worker until the callback arrives, at most this long. */
  readonly wait: (waitMs: DurationMs) => Error;
}

export interface OnceOptions {
  /** How long the result is remembered; a week by default. */
  readonly keepMs?: DurationMs;
}

export interface PreviousSuccess {
  readonly finishedAt: Instant;
  readonly output: unknown;
}

/** A run whose end started another run, as the other run sees it. */
export interface UpstreamRun {
  /** run_… */
  readonly runId: string;
  /** job_… */
  readonly jobId: string;
  readonly jobKey: string | null;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** Why it did not succeed; null if it did. */
  readonly reason: string | null;
  readonly finishedAt: Instant;
  readonly output: unknown;
  /** The output is left out: it has more than 256 KiB as JSON, or all outputs have more than 1 MiB. */
  readonly isOutputCut: boolean;
  readonly error: { readonly type: string; readonly message: string } | null;
}

export type TaskHandler = (payload: unknown, context: TaskContext) => unknown;

export interface Task {
  readonly name: string;
  /** How many slots of the worker a run uses; 1 by default, capped at all of them. */
  readonly weight?: number;
  /** The versions that this code implements: it gets runs that require one of them. Any worker gets runs that require none. */
  readonly versions?: readonly string[];
  /** Defaults for its runs; {} declares that it has none. Left out: another worker may declare them. */
  readonly defaults?: TaskDefaults;
  readonly run: TaskHandler;
}
