import type { Completion, DurationMs } from "@carillon/core";
import type { ActiveRun } from "./held-runs.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface ResultReporterOptions {
  readonly transport: Pick<Transport, "complete" | "isSessionLost">;
  readonly timers: WorkerTimers;
  readonly onRefused: (runId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

const retryDelayMs: DurationMs = 500;
const maxInFlight = 4;

/** Sends results in batches: those of one turn of the event loop go together. Keeps each result until the engine answers it. */
export class ResultReporter {
  readonly #options: ResultReporterOptions;
  #pending: Completion[] = [];
  #inFlight = 0;
  #isScheduled = false;
  #isBackingOff = false;
  #onIdle: (() => void)[] = [];

  constructor(options: ResultReporterOptions) {
    this.#options = options;
  }

  add(completion: Completion): void {
    this.#pending.push(completion);
    this.#schedule();
  }

  /** The session is lost: the engine accepts none of the pending results. */
  discard(): void {
    this.#pending = [];
    this.#resolveIdle();
  }

  /** Resolves when every result is answered or discarded. */
  async idle(): Promise<void> {
    if (this.#pending.length + this.#inFlight > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBackingOff || this.#inFlight >= maxInFlight) return;
    this.#isScheduled = true;
    this.#options.timers.soon(() => {
      this.#isScheduled = false;
      if (this.#pending.length > 0) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const { transport, onRefused } = this.#options;
    const batch = this.#pending;
    this.#pending = [];
    this.#inFlight++;
    try {
      const accepted = await transport.complete(batch);
      if (accepted.size < batch.length) for (const { runId } of batch) if (!accepted.has(runId)) onRefused(runId);
    } catch (error) {
      this.#retryLater(batch, error);
    } finally {
      this.#inFlight--;
    }
    if (this.#pending.length > 0) this.#schedule();
    else this.#resolveIdle();
  }

  #retryLater(batch: readonly Completion[], error: unknown): void {
    const { transport, timers, onFailure } = this.#options;
    if (transport.isSessionLost(error)) return;
    onFailure(error);
    this.#pending = [...batch, ...this.#pending];
    this.#isBackingOff = true;
    timers.setTimeout(() => {
      this.#isBackingOff = false;
      this.#schedule();
    }, retryDelayMs);
  }

  #resolveIdle(): void {
    if (this.#pending.length + this.#inFlight === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

export interface StartReporterOptions {
  readonly transport: Pick<Transport, "started">;
  readonly timers: WorkerTimers;
  readonly activeRuns: () => Iterable<ActiveRun>;
  readonly onFailure: (error: unknown) => void;
}

/** The start of a run is reported when the run takes longer than this. */
const startReportIntervalMs: DurationMs = 3_000;

/** Reports at intervals which runs have started: a lost worker counts as a lost attempt only for those. */
export class StartReporter {
  readonly #options: StartReporterOptions;
  #timer: unknown = null;
  #isStopped = false;

  constructor(options: StartReporterOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    const report = (): void => void this.#report().finally(() => this.start());
    this.#timer = this.#options.timers.setTimeout(report, startReportIntervalMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  async #report(): Promise<void> {
    const { transport, timers, activeRuns, onFailure } = this.#options;
    const unreported = [...activeRuns()].filter((run) => !run.isStartReported);
    if (unreported.length === 0) return;
    const now = timers.monotonic();
    try {
      await transport.started(
        unreported.map(({ assignment: { runId, fence }, startedAt }) => ({ runId, fence, agoMs: now - startedAt })),
      );
      for (const run of unreported) run.isStartReported = true;
    } catch (error) {
      onFailure(error);
    }
  }
}
