import type { RunError } from "@carillon/core";
import type { IgnoredSignalEvent } from "./ignored-signals.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface WorkerOptions {
  readonly transport: Transport;
  readonly tasks: readonly Task[];
  readonly name: string;
  /** Those whose runs it takes, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly queues: readonly string[];
  readonly slots: number;
  /** What the worker says of itself; runs may require some of it. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its machine may go at any time: it gets only runs that allow it. */
  readonly isSpot?: boolean;
  /** Runs that may wait here beyond the slots; left out: as many as are done in a twentieth of a second. */
  readonly ahead?: number;
  readonly timers: WorkerTimers;
  readonly onEvent?: (event: WorkerEvent) => void;
}

/** A handler threw, or its time was over. Whether it is tried again is for the server to say. */
export interface FailedAttemptEvent {
  readonly type: "run.attempt_failed";
  /** run_… */
  readonly runId: string;
  readonly task: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly error: RunError;
}

export type WorkerEvent =
  | { readonly type: "worker.started" }
  | { readonly type: "worker.session_lost"; readonly running: number }
  /** An operator wants it to end: whoever started it is to stop it, or with a notice to let it leave. */
  | { readonly type: "worker.drain_asked"; readonly isNotice: boolean }
  | { readonly type: "worker.unheard"; readonly running: number }
  | { readonly type: "worker.transport_failed"; readonly error: unknown }
  /** The id is run_…, as in every event. */
  | { readonly type: "run.result_refused"; readonly runId: string }
  | FailedAttemptEvent
  | IgnoredSignalEvent
  | { readonly type: "worker.drained"; readonly givenBack: number };
