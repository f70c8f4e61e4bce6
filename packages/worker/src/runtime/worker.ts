import type { Assignment, DurationMs, Outcome, RunNote, StopOrder } from "@carillon/core";
import { RunStoppedError, stoppedOutcome, stoppedWithWorker } from "./errors.js";
import { execute } from "./execute.js";
import { type IgnoredSignalEvent, IgnoredSignals, type SignalledHandler } from "./ignored-signals.js";
import { Notebook } from "./notebook.js";
import { Reporter } from "./reporter.js";
import { StopSignal } from "./stop-signal.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import { registrationOf, weightsOf } from "./registration.js";
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

export type WorkerEvent =
  | { readonly type: "worker.started" }
  | { readonly type: "worker.session_lost"; readonly running: number }
  /** An operator wants it to end: whoever started it is to stop it, or with a notice to let it leave. */
  | { readonly type: "worker.drain_asked"; readonly isNotice: boolean }
  | { readonly type: "worker.unheard"; readonly running: number }
  | { readonly type: "worker.transport_failed"; readonly error: unknown }
  | { readonly type: "run.result_refused"; readonly runId: string }
  | IgnoredSignalEvent
  | { readonly type: "worker.drained"; readonly givenBack: number };

interface Running extends SignalledHandler {
  readonly stop: StopSignal;
  readonly startedAt: DurationMs;
  done: Promise<void>;
  /** It was asked to stop: if its handler throws now, it was not a failure. */
  isStopping: boolean;
  /** The worker stops: unless it has succeeded it is given back. */
  isLeaving: boolean;
  /** The engine knows that it has begun. */
  isTold: boolean;
  /** It was asked to stop since the engine may soon take this worker for dead: nothing is to be spent for it. */
  isUnheard: boolean;
  isSettled: boolean;
}

const pauseAfterErrorMs = 500;
/** How long a worker that stops waits for an engine that does not answer, at each step. */
const patienceMs = 3_000;
/** Runs that take longer than this are told of while they run. */
const tellEveryMs = 3_000;
/** The last of the grace time, or a fifth of it if it is short. */
const lastWordsMs = 1_000;

/**
 * Executes the runs that it is given, as many at a time as it has slots, and reports each result until it is accepted or
 * refused. The same runtime serves in-process and over HTTP: only the transport differs.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #tasks: ReadonlyMap<string, Task>;
  /** Of tasks whose runs take more than one slot; null: there are none. */
  readonly #weights: ReadonlyMap<string, number> | null;
  readonly #reporter: Reporter;
  readonly #notebook: Notebook;
  readonly #ignored: IgnoredSignals;
  readonly #running = new Map<string, Running>();
  /** Given ahead: they wait for a slot, in their order. */
  readonly #waiting = new Map<string, Assignment>();
  #state: "new" | "running" | "draining" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  #endGrace: () => void = () => undefined;
  #telling: unknown = null;
  /** The grace time is over, whatever was said before. */
  #isHurried = false;

  constructor(options: WorkerOptions) {
    const { transport, timers } = options;
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]));
    this.#weights = weightsOf(options);
    this.#reporter = new Reporter({
      transport,
      timers,
      onRefused: (runId) => this.#emit({ type: "run.result_refused", runId }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#notebook = new Notebook({
      transport,
      timers,
      onLost: (note) => this.#loseClaim(note),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#ignored = new IgnoredSignals(timers, (event) => this.#emit(event));
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "running";
    await this.#open();
    this.#tellLater();
    this.#emit({ type: "worker.started" });
  }

  /**
   * Takes nothing more, gives back what has not started, waits for what runs up to the grace time, then signals the rest and
   * gives it back too, all without spending anything; what may be begun only once has failed. Called again, it waits no
   * longer than the new grace time.
   */
  stop(graceMs: DurationMs): Promise<void> {
    if (this.#stopping !== null) {
      this.#options.timers.setTimeout(() => {
        this.#isHurried = true;
        this.#endGrace();
      }, graceMs);
      return this.#stopping;
    }
    const wasRunning = this.#state === "running";
    this.#state = "draining";
    this.#stopping = wasRunning ? this.#drain(graceMs, Math.min(lastWordsMs, graceMs / 5)) : Promise.resolve();
    return this.#stopping;
  }

  /**
   * The machine goes: handlers are signalled at once and have this time to save where they are. What has not ended by then is given
   * back as by `stop`.
   */
  leave(withinMs: DurationMs): Promise<void> {
    if (this.#stopping !== null || this.#state !== "running") return this.stop(withinMs);
    this.#state = "draining";
    this.#stopping = this.#drain(withinMs, withinMs);
    return this.#stopping;
  }

  /** Handlers are signalled when so much of the grace time is left. */
  async #drain(graceMs: DurationMs, lastMs: DurationMs): Promise<void> {
    const { transport } = this.#options;
    await this.#within(patienceMs, this.#tried(transport.pause()));
    const unstarted = [...this.#waiting.values()];
    this.#waiting.clear();
    await this.#within(patienceMs, this.#giveBack(unstarted));
    await this.#within(graceMs - lastMs, Promise.all([...this.#running.values()].map((run) => run.done)));
    const left = await this.#signalLeft(lastMs);
    const [spent, unspent] = [left.filter(isSpent), left.filter((run) => !isSpent(run))];
    for (const run of spent) this.#report(run, stoppedWithWorker());
    // A result that is still under way must be answered before the session goes, or the run would be taken for lost.
    await this.#within(graceMs + pauseAfterErrorMs, this.#reporter.idle());
    await this.#within(patienceMs, this.#giveBack(unspent.map((run) => run.assignment)));
    await this.#within(patienceMs, this.#tried(transport.close()));
    this.#state = "stopped";
    this.#options.timers.clearTimeout(this.#telling);
    this.#ignored.stop();
    this.#notebook.forget();
    this.#emit({ type: "worker.drained", givenBack: unspent.length + unstarted.length });
  }

  /** Handlers that work on when the grace time is nearly over have the rest to save where they are. Answers what to give back. */
  async #signalLeft(lastMs: DurationMs): Promise<Running[]> {
    for (const run of this.#running.values()) {
      run.isLeaving = true;
      run.stop.abort(new RunStoppedError("drain", "the worker stops"));
    }
    const ends = Promise.all([...this.#running.values()].map((run) => run.done));
    if (this.#running.size > 0 && !this.#isHurried) await this.#within(lastMs, ends);
    const left = [...this.#running.values()];
    this.#running.clear();
    return left;
  }

  async #open(): Promise<void> {
    const { transport } = this.#options;
    await transport.open(registrationOf(this.#options), {
      onAssign: (assignments) => this.#take(assignments),
      onStop: (orders) => this.#stopRuns(orders),
      onLost: () => void this.#startOver(),
      onUnheard: () => this.#stopUnheard(),
      onDrain: (isNotice) => this.#emit({ type: "worker.drain_asked", isNotice }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
  }

  /** The session is gone: whatever runs here is somebody else's now. */
  async #startOver(): Promise<void> {
    this.#emit({ type: "worker.session_lost", running: this.#running.size });
    const why = new RunStoppedError("session_lost", "the worker's session was lost");
    for (const run of this.#running.values()) run.stop.abort(why);
    this.#running.clear();
    this.#waiting.clear();
    this.#reporter.forget();
    this.#notebook.forget();
    while (this.#state === "running") {
      try {
        return await this.#open();
      } catch (error) {
        this.#emit({ type: "worker.transport_failed", error });
        await new Promise<void>((resolve) => void this.#options.timers.setTimeout(resolve, pauseAfterErrorMs));
      }
    }
  }

  #stopUnheard(): void {
    this.#emit({ type: "worker.unheard", running: this.#running.size });
    for (const run of this.#running.values()) {
      run.isUnheard = true;
      run.stop.abort(
        new RunStoppedError("unheard", "the server has not answered for too long; others may get the run"),
      );
    }
  }

  #take(assignments: readonly Assignment[]): void {
    for (const assignment of assignments) {
      if (this.#running.get(assignment.runId)?.assignment.fence === assignment.fence) continue;
      this.#waiting.set(assignment.runId, assignment);
    }
    this.#beginNext();
  }

  #beginNext(): void {
    if (this.#state !== "running") return;
    let used = this.#usedSlots();
    for (const [runId, assignment] of this.#waiting) {
      // The next is waited for, however heavy: lighter ones that overtake it would keep it waiting.
      used += this.#weights?.get(assignment.task) ?? 1;
      if (used > this.#options.slots) return;
      this.#waiting.delete(runId);
      this.#begin(assignment);
    }
  }

  #usedSlots(): number {
    const weights = this.#weights;
    if (weights === null) return this.#running.size;
    return [...this.#running.values()].reduce((sum, run) => sum + (weights.get(run.assignment.task) ?? 1), 0);
  }

  #begin(assignment: Assignment): void {
    const stop = new StopSignal((reason) => this.#ignored.watch(running, reason));
    const running: Running = {
      assignment,
      stop,
      startedAt: this.#options.timers.monotonic(),
      done: Promise.resolve(),
      isStopping: false,
      isLeaving: false,
      isTold: false,
      isUnheard: false,
      isSettled: false,
      onLateEnd: null,
    };
    this.#running.get(assignment.runId)?.stop.abort(new RunStoppedError("claim_lost", "the run was claimed again"));
    this.#running.set(assignment.runId, running);
    const { timers } = this.#options;
    const onSettled = (): void => {
      running.isSettled = true;
      running.onLateEnd?.();
    };
    const options = { stop, timers, notebook: this.#notebook, onSettled };
    running.done = execute(this.#tasks.get(assignment.task), assignment, options).then((outcome) =>
      this.#end(running, outcome),
    );
  }

  #tellLater(): void {
    if (this.#state === "stopped") return;
    this.#telling = this.#options.timers.setTimeout(() => {
      void this.#tellStarted().finally(() => this.#tellLater());
    }, tellEveryMs);
  }

  async #tellStarted(): Promise<void> {
    const { transport, timers } = this.#options;
    const begun = [...this.#running.values()].filter((run) => !run.isTold);
    if (begun.length === 0) return;
    const now = timers.monotonic();
    try {
      await transport.started(
        begun.map(({ assignment: { runId, fence }, startedAt }) => ({ runId, fence, agoMs: now - startedAt })),
      );
      for (const run of begun) run.isTold = true;
    } catch (error) {
      this.#emit({ type: "worker.transport_failed", error });
    }
  }

  #stopRuns(orders: readonly StopOrder[]): void {
    for (const { runId, fence, reason } of orders) {
      const waiting = this.#waiting.get(runId);
      if (waiting?.fence === fence) {
        this.#waiting.delete(runId);
        this.#reporter.add({ runId, fence, startedAgoMs: 0, outcome: { kind: "cancelled", error: null } });
      }
      const running = this.#running.get(runId);
      if (running?.assignment.fence !== fence || running.isStopping) continue;
      running.isStopping = true;
      running.stop.abort(new RunStoppedError(reason));
    }
  }

  /** A note was refused: the run was given to somebody else while its handler is at work. */
  #loseClaim({ runId, fence }: RunNote): void {
    const running = this.#running.get(runId);
    if (running?.assignment.fence === fence) running.stop.abort(new RunStoppedError("claim_lost"));
  }

  #end(running: Running, ended: Outcome): void {
    const { runId } = running.assignment;
    if (this.#running.get(runId) !== running) return;
    // What another system has begun is not begun again.
    if (running.isLeaving && ended.kind !== "succeeded" && ended.kind !== "waiting") return;
    this.#running.delete(runId);
    if (running.isUnheard && ended.kind === "failed" && !isSpent(running)) {
      void this.#giveBack([running.assignment]);
      return this.#beginNext();
    }
    this.#report(running, running.isStopping ? stoppedOutcome(ended) : ended);
    this.#beginNext();
  }

  #report({ assignment: { runId, fence }, startedAt }: Running, outcome: Outcome): void {
    const startedAgoMs = this.#options.timers.monotonic() - startedAt;
    this.#reporter.add({ runId, fence, startedAgoMs, outcome });
  }

  async #giveBack(assignments: readonly Assignment[]): Promise<void> {
    if (assignments.length === 0) return;
    await this.#tried(this.#options.transport.giveBack(assignments.map(({ runId, fence }) => ({ runId, fence }))));
  }

  async #tried(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#emit({ type: "worker.transport_failed", error });
    }
  }

  #within(limitMs: DurationMs, work: Promise<unknown>): Promise<void> {
    const { timers } = this.#options;
    return new Promise((resolve) => {
      const end = (): void => {
        timers.clearTimeout(timer);
        resolve();
      };
      const timer = timers.setTimeout(end, limitMs);
      this.#endGrace = end;
      void work.finally(end);
    });
  }

  #emit(event: WorkerEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** Begun, and not to be begun again by anybody. */
function isSpent({ assignment }: Running): boolean {
  return assignment.atMostOnce;
}
