import type { Instant } from "@carillon/core";

/** What a handler is given beside its payload. */
export interface TaskContext {
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Stable over all attempts of the run: what an outside service needs to do a thing once. */
  readonly idempotencyKey: string;
  /** Grows with every attempt: what an outside store needs to refuse a zombie. */
  readonly fence: number;
  readonly scheduledFor: Instant;
  /** Fires on timeout, when the run is cancelled, when the worker stops without further grace, and when its session is lost. */
  readonly signal: AbortSignal;
}

export type TaskHandler = (payload: unknown, context: TaskContext) => unknown;

export interface Task {
  readonly name: string;
  readonly run: TaskHandler;
}
