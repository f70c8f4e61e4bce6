import type { DurationMs, Instant } from "@carillon/core";

/** A run handed to this worker. Everything that is later said of it carries the fence. */
export interface Assignment {
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  /** The number of this try, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Grows with every claim of the run and is never used again. */
  readonly fence: number;
  readonly timeoutMs: DurationMs | null;
  readonly scheduledFor: Instant;
  readonly runAt: Instant;
}

export interface TaskFailure {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly retryable: boolean;
}

export type Outcome =
  | { readonly kind: "succeeded"; readonly output: unknown }
  | {
      readonly kind: "failed";
      readonly reason: "handler_error" | "timeout";
      readonly error: TaskFailure;
      readonly retryAfterMs?: DurationMs;
    };

/** How a run ended here. */
export interface Completion {
  readonly runId: string;
  readonly fence: number;
  /** How long ago, when this is sent, the handler started: durations travel, wall clocks do not. */
  readonly startedAgoMs: DurationMs;
  readonly outcome: Outcome;
}

export interface Registration {
  readonly name: string;
  /** `*` alone stands for every queue. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
}

export interface PollRequest {
  readonly free: number;
  readonly waitMs: DurationMs;
  readonly signal: AbortSignal;
}

/**
 * How a worker talks to the engine. `open` may be called again after `poll` or `complete` failed with a lost session:
 * the worker then starts anew under another session.
 */
export interface Transport {
  open(registration: Registration): Promise<void>;
  /** Waits for work up to `waitMs`; answers at once when the signal fires. */
  poll(request: PollRequest): Promise<readonly Assignment[]>;
  /** Answers the run ids whose result was accepted; the others belong to somebody else by now. */
  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void>;
  close(): Promise<void>;
  /** The server does not know the session any more. */
  isSessionLost(error: unknown): boolean;
}
