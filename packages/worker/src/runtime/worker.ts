import { type Assignment, type DurationMs, type Outcome, type RunNote, shownId, type StopOrder } from "@carillon/core";
import { RunStoppedError, stoppedOutcome, stoppedWithWorker } from "./errors.js";
import { execute } from "./execute.js";
import { IgnoredSignals } from "./ignored-signals.js";
import { Notebook } from "./notebook.js";
import { Patience } from "./patience.js";
import { registrationOf } from "./registration.js";
import { Reporter } from "./reporter.js";
import { isSpent, Running, type RunSite } from "./running.js";
import { Slots } from "./slots.js";
import { StartTeller } from "./start-teller.js";
import type { Task } from "./task.js";
import type { WorkerEvent, WorkerOptions } from "./worker-options.js";

const pauseAfterErrorMs = 500;
/** How long a worker that stops waits for an engine that does not answer, at each step. */
const patienceMs = 3_000;
/** The last of the grace time, or a fifth of it if it is short. */
const lastWordsMs = 1_000;

/**
 * Executes the runs that it is given, as many at a time as it has slots, and reports each result until it is accepted or
 * refused. The same runtime serves in-process and over HTTP: only the transport differs.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #slots: Slots;
  readonly #reporter: Reporter;
  readonly #notebook: Notebook;
  readonly #site: RunSite;
  readonly #ignored: IgnoredSignals;
  readonly #running = new Map<string, Running>();
  /** Given ahead: they wait for a slot, in their order. */
  readonly #waiting = new Map<string, Assignment>();
  #state: "new" | "running" | "draining" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  /** The registration under way, if there is one; never rejects. */
  #opening: Promise<void> | null = null;
  /** It stops, and waits for no registration any more. */
  #isGone = false;
  readonly #patience: Patience;
  readonly #teller: StartTeller;
  /** The grace time is over, whatever was said before. */
  #isHurried = false;

  constructor(options: WorkerOptions) {
    const { transport, timers } = options;
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]));
    this.#slots = new Slots(options);
    this.#reporter = new Reporter({
      transport,
      timers,
      onRefused: (runId) => this.#emit({ type: "run.result_refused", runId: shownId("run", runId) }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#notebook = new Notebook({
      transport,
      timers,
      onLost: (note) => this.#loseClaim(note),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#patience = new Patience(timers);
    this.#teller = new StartTeller({
      transport,
      timers,
      running: () => this.#running.values(),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#ignored = new IgnoredSignals(timers, (event) => this.#emit(event));
    const onSignal: RunSite["onSignal"] = (run, reason) => this.#ignored.watch(run, reason);
    this.#site = { notebook: this.#notebook, timers, onSignal };
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "running";
    await this.#open();
    if (this.#stopping !== null) return;
    this.#teller.start();
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
        this.#patience.end();
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
    if (this.#opening !== null) await this.#patience.within(patienceMs, this.#opening);
    this.#isGone = true;
    await this.#patience.within(patienceMs, this.#tried(transport.pause()));
    const unstarted = this.#takeWaiting();
    await this.#patience.within(patienceMs, this.#giveBack(unstarted));
    await this.#patience.within(graceMs - lastMs, Promise.all([...this.#running.values()].map((run) => run.done)));
    const left = await this.#signalLeft(lastMs);
    const [spent, unspent] = [left.filter(isSpent), left.filter((run) => !isSpent(run))];
    for (const run of spent) this.#report(run, stoppedWithWorker());
    // A result that is still under way must be answered before the session goes, or the run would be taken for lost.
    await this.#patience.within(graceMs + pauseAfterErrorMs, this.#reporter.idle());
    // Also what came after all, although nobody had the patience to wait for it.
    const late = this.#takeWaiting();
    await this.#patience.within(patienceMs, this.#giveBack([...unspent.map((run) => run.assignment), ...late]));
    await this.#patience.within(patienceMs, this.#tried(transport.close()));
    this.#state = "stopped";
    this.#teller.stop();
    this.#ignored.stop();
    this.#notebook.forget();
    this.#emit({ type: "worker.drained", givenBack: unspent.length + unstarted.length + late.length });
  }

  /** Handlers that work on when the grace time is nearly over have the rest to save where they are. Answers what to give back. */
  async #signalLeft(lastMs: DurationMs): Promise<Running[]> {
    for (const run of this.#running.values()) {
      run.isLeaving = true;
      run.stop.abort(new RunStoppedError("drain", "the worker stops"));
    }
    const ends = Promise.all([...this.#running.values()].map((run) => run.done));
    if (this.#running.size > 0 && !this.#isHurried) await this.#patience.within(lastMs, ends);
    const left = [...this.#running.values()];
    this.#running.clear();
    return left;
  }

  #open(): Promise<void> {
    const opening = this.#register();
    const end = (): void => void (this.#opening = null);
    this.#opening = opening.then(end, end);
    return opening;
  }

  async #register(): Promise<void> {
    const { transport } = this.#options;
    await transport.open(registrationOf(this.#options), {
      onAssign: (assignments) => this.#take(assignments),
      onStop: (orders) => this.#stopRuns(orders),
      onLost: () => void this.#startOver(),
      onUnheard: () => this.#stopUnheard(),
      onDrain: (isNotice) => this.#emit({ type: "worker.drain_asked", isNotice }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    if (this.#isGone) await this.#closeLate();
  }

  /** The worker has stopped meanwhile: nobody else would close this session, and what it gets would wait for ever. */
  async #closeLate(): Promise<void> {
    const { transport } = this.#options;
    await this.#tried(transport.pause());
    await this.#giveBack(this.#takeWaiting());
    await this.#tried(transport.close());
  }

  #takeWaiting(): Assignment[] {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    return waiting;
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
    let taken = this.#slots.takenByAll(this.#running);
    for (const assignment of assignments) {
      const { runId, fence } = assignment;
      if (this.#running.get(runId)?.assignment.fence === fence) continue;
      if (this.#waiting.size > 0 || !this.#canBegin(assignment, taken)) this.#waiting.set(runId, assignment);
      else taken += this.#begin(assignment);
    }
    if (this.#waiting.size > 0) this.#beginNext();
  }

  #beginNext(): void {
    let taken = this.#slots.takenByAll(this.#running);
    for (const assignment of this.#waiting.values()) {
      // The next is waited for, however heavy: lighter ones that overtake it would keep it waiting.
      if (!this.#canBegin(assignment, taken)) return;
      this.#waiting.delete(assignment.runId);
      taken += this.#begin(assignment);
    }
  }

  #canBegin(assignment: Assignment, taken: number): boolean {
    return this.#state === "running" && this.#slots.fits(assignment, taken);
  }

  /** Answers how many slots it takes from now on: none, if it has ended at once. Then nobody could have asked it to stop. */
  #begin(assignment: Assignment): number {
    const { runId, task } = assignment;
    const before = this.#running.get(runId);
    if (before !== undefined) {
      before.stop.abort(new RunStoppedError("claim_lost", "the run was claimed again"));
      this.#running.delete(runId);
    }
    const running = new Running(assignment, this.#site);
    const outcome = execute(this.#tasks.get(task), assignment, running);
    if (!(outcome instanceof Promise)) {
      this.#report(running, outcome);
      return 0;
    }
    this.#running.set(runId, running);
    running.done = outcome.then((ended) => {
      this.#end(running, ended);
      this.#beginNext();
    });
    return this.#slots.takenBy(assignment);
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
      return;
    }
    this.#report(running, running.isStopping ? stoppedOutcome(ended) : ended);
  }

  #report({ assignment, startedAt }: Running, outcome: Outcome): void {
    const { runId, fence, task, attempt, maxAttempts } = assignment;
    if (outcome.kind === "failed") {
      const about = { runId: shownId("run", runId), task, attempt, maxAttempts };
      this.#emit({ type: "run.attempt_failed", ...about, error: outcome.error });
    }
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

  #emit(event: WorkerEvent): void {
    this.#options.onEvent?.(event);
  }
}
