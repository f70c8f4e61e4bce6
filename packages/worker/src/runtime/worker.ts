import { type Assignment, type DurationMs, shownId } from "@carillon/core";
import { stoppedWithWorker } from "./errors.js";
import { HeldRuns } from "./held-runs.js";
import { IgnoredSignals } from "./ignored-signals.js";
import { Notebook } from "./notebook.js";
import { Patience } from "./patience.js";
import { registrationOf } from "./registration.js";
import { Reporter } from "./reporter.js";
import { isSpent, type Running, type RunSite } from "./running.js";
import { Slots } from "./slots.js";
import { StartTeller } from "./start-teller.js";
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
  readonly #reporter: Reporter;
  readonly #notebook: Notebook;
  readonly #ignored: IgnoredSignals;
  readonly #runs: HeldRuns;
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
    this.#reporter = new Reporter({
      transport,
      timers,
      onRefused: (runId) => this.#emit({ type: "run.result_refused", runId: shownId("run", runId) }),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#notebook = new Notebook({
      transport,
      timers,
      onLost: (note) => this.#runs.loseClaim(note),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#patience = new Patience(timers);
    this.#teller = new StartTeller({
      transport,
      timers,
      running: () => this.#runs.running(),
      onFailure: (error) => this.#emit({ type: "worker.transport_failed", error }),
    });
    this.#ignored = new IgnoredSignals(timers, (event) => this.#emit(event));
    const onSignal: RunSite["onSignal"] = (run, reason) => this.#ignored.watch(run, reason);
    this.#runs = new HeldRuns({
      tasks: options.tasks,
      slots: new Slots(options),
      site: { notebook: this.#notebook, timers, onSignal },
      reporter: this.#reporter,
      onFailed: (event) => this.#emit(event),
      onGivenBack: (assignment) => void this.#giveBack([assignment]),
    });
  }

  get runningCount(): number {
    return this.#runs.runningCount;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "running";
    this.#runs.open();
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
    this.#shut();
    this.#stopping = wasRunning ? this.#drain(graceMs, Math.min(lastWordsMs, graceMs / 5)) : Promise.resolve();
    return this.#stopping;
  }

  /**
   * The machine goes: handlers are signalled at once and have this time to save where they are. What has not ended by then is given
   * back as by `stop`.
   */
  leave(withinMs: DurationMs): Promise<void> {
    if (this.#stopping !== null || this.#state !== "running") return this.stop(withinMs);
    this.#shut();
    this.#stopping = this.#drain(withinMs, withinMs);
    return this.#stopping;
  }

  #shut(): void {
    this.#state = "draining";
    this.#runs.shut();
  }

  /** Handlers are signalled when so much of the grace time is left. */
  async #drain(graceMs: DurationMs, lastMs: DurationMs): Promise<void> {
    const { transport } = this.#options;
    if (this.#opening !== null) await this.#patience.within(patienceMs, this.#opening);
    this.#isGone = true;
    await this.#patience.within(patienceMs, this.#tried(transport.pause()));
    const unstarted = this.#runs.removeWaiting();
    await this.#patience.within(patienceMs, this.#giveBack(unstarted));
    await this.#patience.within(graceMs - lastMs, this.#runs.ends());
    const left = await this.#signalLeft(lastMs);
    const [spent, unspent] = [left.filter(isSpent), left.filter((run) => !isSpent(run))];
    for (const run of spent) this.#runs.report(run, stoppedWithWorker());
    // A result that is still under way must be answered before the session goes, or the run would be taken for lost.
    await this.#patience.within(graceMs + pauseAfterErrorMs, this.#reporter.idle());
    // Also what came after all, although nobody had the patience to wait for it.
    const late = this.#runs.removeWaiting();
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
    this.#runs.signalLeaving();
    if (this.#runs.runningCount > 0 && !this.#isHurried) await this.#patience.within(lastMs, this.#runs.ends());
    return this.#runs.removeRunning();
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
      onAssign: (assignments) => this.#runs.take(assignments),
      onStop: (orders) => this.#runs.stop(orders),
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
    await this.#giveBack(this.#runs.removeWaiting());
    await this.#tried(transport.close());
  }

  /** The session is gone: whatever runs here is somebody else's now. */
  async #startOver(): Promise<void> {
    this.#emit({ type: "worker.session_lost", running: this.#runs.runningCount });
    this.#runs.forget();
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
    this.#emit({ type: "worker.unheard", running: this.#runs.runningCount });
    this.#runs.signalUnheard();
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
