import { type Assignment, type DurationMs, shownId } from "@carillon/core";
import { RunStoppedError, type StopReason } from "./errors.js";
import type { WorkerTimers } from "./timers.js";

export interface IgnoredSignalEvent {
  /** ignored: the handler was told to stop and works on; ended_late: it has ended since, and its result counts for nothing. */
  readonly type: "run.signal_ignored" | "run.ended_late";
  /** run_… */
  readonly runId: string;
  readonly task: string;
  readonly reason: StopReason;
  /** Since the signal. */
  readonly afterMs: DurationMs;
}

export interface SignalledHandler {
  readonly assignment: Assignment;
  readonly isSettled: boolean;
  /** Called when it has ended after all. */
  onLateEnd: (() => void) | null;
}

/** So long a handler may take to clean up. */
const cleanUpMs: DurationMs = 5_000;

/** Reports handlers that work on after their signal: nobody can end them, and they take what others need. */
export class IgnoredSignals {
  readonly #timers: WorkerTimers;
  readonly #tell: (event: IgnoredSignalEvent) => void;
  readonly #waiting = new Set<unknown>();

  constructor(timers: WorkerTimers, tell: (event: IgnoredSignalEvent) => void) {
    this.#timers = timers;
    this.#tell = tell;
  }

  /** The signal of a handler fired. */
  watch(handler: SignalledHandler, error: Error): void {
    if (handler.isSettled) return;
    const { task } = handler.assignment;
    const runId = shownId("run", handler.assignment.runId);
    const reason = error instanceof RunStoppedError ? error.reason : error.message;
    const since = this.#timers.monotonic();
    const tell = (type: IgnoredSignalEvent["type"]): void =>
      this.#tell({ type, runId, task, reason, afterMs: this.#timers.monotonic() - since });
    const timer = this.#timers.setTimeout(() => {
      this.#waiting.delete(timer);
      if (handler.isSettled) return;
      tell("run.signal_ignored");
      handler.onLateEnd = () => tell("run.ended_late");
    }, cleanUpMs);
    this.#waiting.add(timer);
  }

  stop(): void {
    for (const timer of this.#waiting) this.#timers.clearTimeout(timer);
    this.#waiting.clear();
  }
}
