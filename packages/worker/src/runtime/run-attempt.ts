import type { Assignment, Outcome } from "@carillon/core";
import { RunStoppedError, type StopReason } from "./errors.js";
import { execute } from "./execute.js";
import { Notebook } from "./notebook.js";
import { StopSignal } from "./stop-signal.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface AttemptOptions {
  /** Takes what the handler leaves behind. */
  readonly note: Transport["note"];
  readonly timers: WorkerTimers;
}

export interface Attempt {
  readonly outcome: Promise<Outcome>;
  /** Fires the handler's signal. */
  stop(reason: StopReason): void;
}

/** One attempt without a worker around it, with all that a handler is given. */
export function runAttempt(task: Task, assignment: Assignment, { note, timers }: AttemptOptions): Attempt {
  const stop = new StopSignal();
  const fire = (reason: StopReason): void => stop.abort(new RunStoppedError(reason));
  const notebook = new Notebook({
    transport: { note, isSessionLost: () => true },
    timers,
    onLost: () => fire("claim_lost"),
    onFailure: () => undefined,
  });
  const outcome = execute(task, assignment, { stop, timers, notebook, onSettled: () => undefined });
  return { outcome: Promise.resolve(outcome), stop: fire };
}
