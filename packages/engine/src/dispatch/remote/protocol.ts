import type { Completion, DurationMs, StopOrder } from "@carillon/core";
import type { Assigned } from "../sessions/to-assignment.js";
import type { StartedRun, WorkerHandlers, WorkerRegistration } from "../sessions/worker-registration.js";

export type RemoteRegistration = Omit<WorkerRegistration, keyof WorkerHandlers | "nodeId">;

/** A run under one claim. */
export interface ClaimName {
  readonly runId: string;
  readonly fence: number;
}

export interface PollRequest {
  readonly completions: readonly Completion[];
  /** Every claim that it has, waiting, at work or unacknowledged: what it was told and does not name did not arrive. */
  readonly held?: readonly ClaimName[];
  readonly waitMs: DurationMs;
  /** Polls of a session are numbered upwards by the worker; one that has only one at a time need not. */
  readonly number?: number;
  /** All polls up to this one are over. Without `held`: and each was answered. */
  readonly heard?: number;
  /** The worker stops: it takes nothing more. */
  readonly isDraining?: boolean;
  readonly signal?: AbortSignal;
}

export interface PollAnswer {
  readonly assignments: readonly Assigned[];
  /** Results that are durable, now or since an answer that was lost. The others were refused. */
  readonly accepted: ReadonlySet<string>;
  readonly stops: readonly StopOrder[];
  /** Claims that the worker names and that are over: what it still does there is in vain. */
  readonly lost: readonly ClaimName[];
  /** An operator wants the worker to end. */
  readonly isToDrain: boolean;
  /** At once, giving back what it has. */
  readonly isToLeave: boolean;
}

export interface SignOfLife {
  /** Every claim that it has, if it wants to know which of them are over. */
  readonly held?: readonly ClaimName[];
  /** Runs that it has begun: only the loss of such a run counts. */
  readonly started?: readonly StartedRun[];
}
