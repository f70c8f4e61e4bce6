import { type Assignment, type DurationMs, shownId } from "@carillon/core";
import { RunStoppedError, type StopReason } from "./errors.js";
import type { WorkerTimers } from "./timers.js";

/** An AbortController that is created on first use: most handlers never read their signal, and creating one costs more than they do. */
export class StopSignal {
  #controller: AbortController | null = null;
  #reason: Error | null = null;
  #callbacks: Set<(reason: Error) => void> | null = null;
  readonly #onFire: ((reason: Error) => void) | null;

  /** `onFire` is called when the signal fires, before all other callbacks. */
  constructor(onFire: ((reason: Error) => void) | null = null) {
    this.#onFire = onFire;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why it fired; null until then. */
  get reason(): Error | null {
    return this.#reason;
  }

  /** Calls back once when the signal fires, at once if it has fired. Returns a function that removes the callback. */
  onAbort(callback: (reason: Error) => void): () => void {
    if (this.#reason === null) (this.#callbacks ??= new Set()).add(callback);
    else callback(this.#reason);
    return () => void this.#callbacks?.delete(callback);
  }

  /** Fires the signal; later calls change nothing. */
  abort(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#onFire?.(reason);
    this.#controller?.abort(reason);
    for (const callback of this.#callbacks ?? []) callback(reason);
    this.#callbacks = null;
  }
}

export interface IgnoredSignalEvent {
  /** signal_ignored: the handler still runs some seconds after its signal; ended_late: it has ended since, and its result is dropped. */
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
  readonly hasEnded: boolean;
  /** Called when the handler ends after it was reported. */
  onLateEnd: (() => void) | null;
}

/** How long a handler may take to clean up after its signal. */
const cleanUpMs: DurationMs = 5_000;

/** Reports handlers that keep running after their signal: the worker cannot end them, and they use resources that other runs need. */
export class IgnoredSignalMonitor {
  readonly #timers: WorkerTimers;
  readonly #emit: (event: IgnoredSignalEvent) => void;
  readonly #pending = new Set<unknown>();

  constructor(timers: WorkerTimers, emit: (event: IgnoredSignalEvent) => void) {
    this.#timers = timers;
    this.#emit = emit;
  }

  /** The handler's signal has fired. */
  watch(handler: SignalledHandler, error: Error): void {
    if (handler.hasEnded) return;
    const { task } = handler.assignment;
    const runId = shownId("run", handler.assignment.runId);
    const reason = error instanceof RunStoppedError ? error.reason : error.message;
    const since = this.#timers.monotonic();
    const emit = (type: IgnoredSignalEvent["type"]): void =>
      this.#emit({ type, runId, task, reason, afterMs: this.#timers.monotonic() - since });
    const timer = this.#timers.setTimeout(() => {
      this.#pending.delete(timer);
      if (handler.hasEnded) return;
      emit("run.signal_ignored");
      handler.onLateEnd = () => emit("run.ended_late");
    }, cleanUpMs);
    this.#pending.add(timer);
  }

  stop(): void {
    for (const timer of this.#pending) this.#timers.clearTimeout(timer);
    this.#pending.clear();
  }
}
