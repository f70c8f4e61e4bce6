import type { TaskDefaults } from "@carillon/client";
import type { CallbackAnswer, DurationMs, Instant } from "@carillon/core";
import type { PayloadFault } from "../payload/payload-fault.js";

/** What a handler is given beside its payload. */
export interface TaskContext {
  /** run_… */
  readonly runId: string;
  /** job_…; null: the run was asked for by itself. */
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The run's id, stable over all attempts: what an outside service needs to do a thing once. */
  readonly idempotencyKey: string;
  /** Grows with every attempt: what an outside store needs to refuse a zombie. */
  readonly fence: number;
  readonly scheduledFor: Instant;
  /** Where the trace that this attempt is part of goes on, as a traceparent header has it; undefined: it is in none. */
  readonly traceparent: string | undefined;
  /** What vendors add to that, for a tracestate header beside it. */
  readonly tracestate: string | undefined;
  /**
   * Fires on timeout, when the run is cancelled, when the worker stops without further grace, and when its session is lost. Its
   * reason is a RunStoppedError that says which.
   */
  readonly signal: AbortSignal;
  /** Where to go on after a failure or a loss: one value for the run, over all its attempts. */
  readonly checkpoint: Checkpoint;
  /** Lines for whoever looks at the run. */
  readonly log: TaskLog;
  /** How far the run is, from 0 to 1, for whoever looks at it. The latest counts; it is no record. */
  readonly progress: (fraction: number, text?: string) => void;
  /** Does a part of the run unless an earlier attempt has done it: then its result is answered again. The result must be JSON. */
  readonly step: <Result>(name: string, work: Work<Result>) => Promise<Result>;
  /**
   * Does something once in the namespace, whichever run comes first; the others are answered its result, which must be JSON.
   * Throws a SnoozeError while another run is at it.
   */
  readonly once: <Result>(key: string, work: Work<Result>, options?: OnceOptions) => Promise<Result>;
  /** The last run of the same job that succeeded; null if there is none. */
  readonly previousSuccess: () => Promise<PreviousSuccess | null>;
  /** The runs whose ends started this one, in the order of `after`; none if nothing did. */
  readonly upstream: () => Promise<readonly UpstreamRun[]>;
  /** A token by which somebody else may end this run, while the handler works or after it threw what `wait` makes. */
  readonly callback: () => Promise<Callback>;
  /**
   * For long work without pauses: lets the worker attend to everything else, and throws if the run is to stop or is somebody
   * else's by now.
   */
  readonly heartbeat: () => Promise<void>;
}

export type Work<Result> = () => Result | PromiseLike<Result>;

export interface Checkpoint {
  /** What was saved last, in this attempt or an earlier one; undefined if nothing was. */
  load<Value = unknown>(): Promise<Value | undefined>;
  /** Durable when it resolves. Of several that wait to be written only the last is. */
  save(value: unknown): Promise<void>;
}

/** Never waits and never throws. */
export interface TaskLog {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** The right to end a run, once: `POST /v1/callbacks/{token}`. It is gone when this attempt is over. */
export interface Callback {
  readonly token: string;
  /** What came for this try when its worker was lost: there is nothing more to do. */
  readonly answer: CallbackAnswer | null;
  /** To be thrown: the run goes on without a worker until the callback comes, no longer than this. */
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

/** A run whose end started another, as the other hears of it. */
export interface UpstreamRun {
  /** run_… */
  readonly runId: string;
  /** job_… */
  readonly jobId: string;
  readonly jobKey: string | null;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** Why, where it did not succeed. */
  readonly reason: string | null;
  readonly finishedAt: Instant;
  readonly output: unknown;
  /** It has more than 256 KiB as JSON, or all have more than 1 MiB: it is not handed on. */
  readonly isOutputCut: boolean;
  readonly error: { readonly type: string; readonly message: string } | null;
}

export type TaskHandler = (payload: unknown, context: TaskContext) => unknown;

export interface Task {
  readonly name: string;
  /** How many slots of the worker a run of it takes; 1 by default, all of them at the most. */
  readonly weight?: number;
  /** The versions of it that this is: runs that ask for one of them come here. Any worker gets runs that ask for none. */
  readonly versions?: readonly string[];
  /** What its runs are like where nobody says otherwise; {}: nothing in particular. Left out: it is for others to say. */
  readonly defaults?: TaskDefaults;
  readonly run: TaskHandler;
}

/**
 * A task that needs no code of the user's: its payload says what to do. `check` says what is wrong with a payload; a server that
 * knows the executor asks it when a job is created, and the executor itself refuses such a payload when it runs.
 */
export interface Executor extends Task {
  readonly check: (payload: unknown) => readonly PayloadFault[];
}
