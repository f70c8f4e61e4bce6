import { type Assignment, type DurationMs, shownId } from "@carillon/core";
import { workerStoppedOutcome } from "./errors.js";
import { type ActiveRun, type FailedAttemptEvent, HeldRuns } from "./held-runs.js";
import { ResultReporter, StartReporter, StateSender } from "./reporter.js";
import { type IgnoredSignalEvent, IgnoredSignalMonitor } from "./stop-signal.js";
import type { WorkerTimers } from "./timers.js";
import { type RegisteringWorker, toRegistration, type Transport } from "./transport.js";

export interface WorkerOptions extends RegisteringWorker {
  readonly transport: Transport;
  readonly timers: WorkerTimers;
  readonly onEvent?: (event: WorkerEvent) => void;
}

export type WorkerEvent =
  | { readonly type: "worker.started" }
  | { readonly type: "worker.session_lost"; readonly running: number }
  /** An operator asks the worker to stop: its owner must call `stop`, or `leave` if isNotice is true. */
  | { readonly type: "worker.drain_requested"; readonly isNotice: boolean }
  | { readonly type: "worker.disconnected"; readonly running: number }
  | { readonly type: "worker.transport_failed"; readonly error: unknown }
  /** The id is run_…, as in every event. */
  | { readonly type: "run.result_refused"; readonly runId: string }
  | FailedAttemptEvent
  | IgnoredSignalEvent
  | { readonly type: "worker.drained"; readonly givenBack: number };

const retryDelayMs = 500;
/** How long each step of a drain waits for an engine that does not answer. */
const drainStepTimeoutMs = 3_000;
/** Handlers are signalled when this much of the grace time is left, or a fifth of it if that is less. */
const maxSignalLeadMs = 1_000;

/**
 * Executes the runs that it is assigned, at most as many at a time as it has slots, and reports each result until the engine accepts or
 * refuses it. The same class serves in the engine's process and over HTTP: only the transport differs.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #results: ResultReporter;
  readonly #starts: StartReporter;
  readonly #stateSender: StateSender;
  readonly #ignoredSignals: IgnoredSignalMonitor;
  readonly #runs: HeldRuns;
  readonly #drainDeadline: DrainDeadline;
  #state: "new" | "running" | "draining" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  /** The registration in progress; never rejects. */
  #opening: Promise<void> | null = null;
  /** The drain no longer waits for a registration in progress. */
  #hasGivenUpOpening = false;
  /** The grace time of a second `stop` is over. */
  #isGraceOver = false;

  constructor(options: WorkerOptions) {
    const { transport, timers } = options;
    const onFailure = (error: unknown): void => this.#emit({ type: "worker.transport_failed", error });
    this.#options = options;
    this.#results = new ResultReporter({
      transport,
      timers,
      onRefused: (runId) => this.#emit({ type: "run.result_refused", runId: shownId("run", runId) }),
      onFailure,
    });
    this.#stateSender = new StateSender({
      transport,
      timers,
      onLost: (note) => this.#runs.signalClaimLost(note),
      onFailure,
    });
    this.#drainDeadline = new DrainDeadline(timers);
    this.#starts = new StartReporter({ transport, timers, activeRuns: () => this.#runs.activeRuns(), onFailure });
    this.#ignoredSignals = new IgnoredSignalMonitor(timers, (event) => this.#emit(event));
    this.#runs = new HeldRuns({
      tasks: options.tasks,
      slots: options.slots,
      results: this.#results,
      stateSender: this.#stateSender,
      timers,
      createRuns: transport.createRuns?.bind(transport),
      onSignal: (run, reason) => this.#ignoredSignals.watch(run, reason),
      onFailed: (event) => this.#emit(event),
      onGiveBack: (assignment) => void this.#giveBack([assignment]),
    });
  }

  get runningCount(): number {
    return this.#runs.activeCount;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "running";
    this.#runs.allowStarts();
    await this.#open();
    if (this.#stopping !== null) return;
    this.#starts.start();
    this.#emit({ type: "worker.started" });
  }

  /**
   * Takes no more runs, gives back those that have not started, waits for active ones up to the grace time, then signals the rest and gives
   * it back too; no attempt is spent. An at-most-once run that has started fails instead. A second call shortens the wait to its own
   * grace time.
   */
  stop(graceMs: DurationMs): Promise<void> {
    if (this.#stopping !== null) {
      this.#options.timers.setTimeout(() => {
        this.#isGraceOver = true;
        this.#drainDeadline.expire();
      }, graceMs);
      return this.#stopping;
    }
    const wasRunning = this.#state === "running";
    this.#beginDraining();
    this.#stopping = wasRunning ? this.#drain(graceMs, Math.min(maxSignalLeadMs, graceMs / 5)) : Promise.resolve();
    return this.#stopping;
  }

  /** The machine is reclaimed: signals handlers at once and gives them this time to save their state. Then gives back the rest as `stop` does. */
  leave(withinMs: DurationMs): Promise<void> {
    if (this.#stopping !== null || this.#state !== "running") return this.stop(withinMs);
    this.#beginDraining();
    this.#stopping = this.#drain(withinMs, withinMs);
    return this.#stopping;
  }

  #beginDraining(): void {
    this.#state = "draining";
    this.#runs.forbidStarts();
  }

  /** Signals handlers when `signalLeadMs` of the grace time are left. */
  async #drain(graceMs: DurationMs, signalLeadMs: DurationMs): Promise<void> {
    const { transport } = this.#options;
    const deadline = this.#drainDeadline;
    if (this.#opening !== null) await deadline.within(drainStepTimeoutMs, this.#opening);
    this.#hasGivenUpOpening = true;
    await deadline.within(drainStepTimeoutMs, this.#reportFailure(transport.pause()));
    const unstarted = this.#runs.removeQueued();
    await deadline.within(drainStepTimeoutMs, this.#giveBack(unstarted));
    await deadline.within(graceMs - signalLeadMs, this.#runs.activeRunsEnd());
    const unfinished = await this.#signalUnfinished(signalLeadMs);
    const restartable = unfinished.filter((run) => !run.assignment.atMostOnce);
    for (const run of unfinished) if (run.assignment.atMostOnce) this.#runs.report(run, workerStoppedOutcome());
    // Results in flight must be answered before the session closes; otherwise the engine would treat their runs as lost.
    await deadline.within(graceMs + retryDelayMs, this.#results.idle());
    // Runs that arrived after the wait for `pause` timed out.
    const late = this.#runs.removeQueued();
    await deadline.within(drainStepTimeoutMs, this.#giveBack([...restartable.map((run) => run.assignment), ...late]));
    await deadline.within(drainStepTimeoutMs, this.#reportFailure(transport.close()));
    this.#state = "stopped";
    this.#starts.stop();
    this.#ignoredSignals.stop();
    this.#stateSender.discard();
    this.#emit({ type: "worker.drained", givenBack: restartable.length + unstarted.length + late.length });
  }

  /** Handlers that are still active get their signal and the rest of the grace time. Returns those that have not ended by then. */
  async #signalUnfinished(signalLeadMs: DurationMs): Promise<ActiveRun[]> {
    this.#runs.signalDrain();
    if (this.#runs.activeCount > 0 && !this.#isGraceOver)
      await this.#drainDeadline.within(signalLeadMs, this.#runs.activeRunsEnd());
    return this.#runs.removeActive();
  }

  #open(): Promise<void> {
    const opening = this.#register();
    const end = (): void => void (this.#opening = null);
    this.#opening = opening.then(end, end);
    return opening;
  }

  async #register(): Promise<void> {
    const { transport } = this.#options;
    await transport.open(toRegistration(this.#options), {
      onAssign: (assignments) => this.#runs.take(assignments),
      onStop: (orders) => this.#runs.stop(orders),
      onLost: () => void this.#registerAgain(),
      onDisconnected: () => this.#stopDisconnected(),
      onDrain: (isNotice) => this.#emit({ type: "worker.drain_requested", isNotice }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    if (this.#hasGivenUpOpening) await this.#closeLate();
  }

  /** The worker stopped while this session was being opened: the drain does not close it, and runs that it gets would never start. */
  async #closeLate(): Promise<void> {
    const { transport } = this.#options;
    await this.#reportFailure(transport.pause());
    await this.#giveBack(this.#runs.removeQueued());
    await this.#reportFailure(transport.close());
  }

  /** The session is lost: other workers may have all of its runs now. */
  async #registerAgain(): Promise<void> {
    this.#emit({ type: "worker.session_lost", running: this.#runs.activeCount });
    this.#runs.abandonAll();
    this.#results.discard();
    this.#stateSender.discard();
    while (this.#state === "running") {
      try {
        return await this.#open();
      } catch (error) {
        this.#emit({ type: "worker.transport_failed", error });
        await new Promise<void>((resolve) => void this.#options.timers.setTimeout(resolve, retryDelayMs));
      }
    }
  }

  #stopDisconnected(): void {
    this.#emit({ type: "worker.disconnected", running: this.#runs.activeCount });
    this.#runs.signalDisconnected();
  }

  async #giveBack(assignments: readonly Assignment[]): Promise<void> {
    if (assignments.length === 0) return;
    const claims = assignments.map(({ runId, fence }) => ({ runId, fence }));
    await this.#reportFailure(this.#options.transport.giveBack(claims));
  }

  async #reportFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#emit({ type: "worker.transport_failed", error });
    }
  }

  #emit(event: WorkerEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** Bounds each wait of a drain; the current wait can be ended early. */
class DrainDeadline {
  readonly #timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  #endWait: () => void = () => undefined;

  constructor(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">) {
    this.#timers = timers;
  }

  /** Resolves when the work has ended, when the time is over, or on `expire`. */
  within(limitMs: DurationMs, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#timers.clearTimeout(timer);
        resolve();
      };
      const timer = this.#timers.setTimeout(end, limitMs);
      this.#endWait = end;
      void work.finally(end);
    });
  }

  /** Ends the current wait. */
  expire(): void {
    this.#endWait();
  }
}
