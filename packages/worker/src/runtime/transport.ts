import type { Assignment, Completion, DurationMs, StopOrder } from "@carillon/core";

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

/** What the engine has to say to a worker without being asked. */
export interface TransportEvents {
  /** Runs that this worker holds are to stop. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
}

/**
 * How a worker talks to the engine. `open` may be called again after `poll` or `complete` failed with a lost session:
 * the worker then starts anew under another session.
 */
export interface Transport {
  open(registration: Registration, events: TransportEvents): Promise<void>;
  /** Waits for work up to `waitMs`; answers at once when the signal fires. */
  poll(request: PollRequest): Promise<readonly Assignment[]>;
  /** Answers the run ids whose result was accepted; the others belong to somebody else by now. */
  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void>;
  close(): Promise<void>;
  /** The server does not know the session any more. */
  isSessionLost(error: unknown): boolean;
}
