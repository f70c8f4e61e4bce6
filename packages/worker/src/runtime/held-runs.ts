import { type Assignment, type Outcome, shownId, type StopOrder } from "@carillon/core";
import { RunStoppedError, stoppedOutcome } from "./errors.js";
import { execute } from "./execute.js";
import type { Reporter } from "./reporter.js";
import { isSpent, Running, type RunSite } from "./running.js";
import type { Slots } from "./slots.js";
import type { Task } from "./task.js";
import type { FailedAttemptEvent } from "./worker-options.js";

export interface HeldRunsOptions {
  readonly tasks: readonly Task[];
  readonly slots: Slots;
  readonly site: RunSite;
  readonly reporter: Pick<Reporter, "add">;
  readonly onFailed: (event: FailedAttemptEvent) => void;
  /** A run ended for which nothing is to be spent. */
  readonly onGivenBack: (assignment: Assignment) => void;
}

/** The runs that a worker has: those at work, in its slots, and those that wait for one, in their order. */
export class HeldRuns {
  readonly #options: HeldRunsOptions;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #slots: Slots;
  readonly #site: RunSite;
  readonly #running = new Map<string, Running>();
  /** Given ahead. */
  readonly #waiting = new Map<string, Assignment>();
  #isOpen = false;

  constructor(options: HeldRunsOptions) {
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]));
    this.#slots = options.slots;
    this.#site = options.site;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  running(): Iterable<Running> {
    return this.#running.values();
  }

  /** Resolves when all that are at work now are over. */
  ends(): Promise<unknown> {
    return Promise.all([...this.#running.values()].map((run) => run.done));
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Nothing begins any more. What is taken from now on waits. */
  shut(): void {
    this.#isOpen = false;
  }

  take(assignments: readonly Assignment[]): void {
    let taken = this.#slots.takenByAll(this.#running);
    for (const assignment of assignments) {
      const { runId, fence } = assignment;
      if (this.#running.get(runId)?.assignment.fence === fence) continue;
      if (this.#waiting.size > 0 || !this.#canBegin(assignment, taken)) this.#waiting.set(runId, assignment);
      else taken += this.#begin(assignment);
    }
    if (this.#waiting.size > 0) this.#beginNext();
  }

  /** Those that wait; they are somebody else's from now on. */
  removeWaiting(): Assignment[] {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    return waiting;
  }

  /** Those at work; what becomes of them is no affair of this worker any more. */
  removeRunning(): Running[] {
    const running = [...this.#running.values()];
    this.#running.clear();
    return running;
  }

  /** The worker stops: those at work have the rest of its time to save where they are. */
  signalLeaving(): void {
    for (const run of this.#running.values()) {
      run.isLeaving = true;
      run.stop.abort(new RunStoppedError("drain", "the worker stops"));
    }
  }

  /** The engine may soon take this worker for dead. */
  signalUnheard(): void {
    for (const run of this.#running.values()) {
      run.isUnheard = true;
      run.stop.abort(
        new RunStoppedError("unheard", "the server has not answered for too long; others may get the run"),
      );
    }
  }

  /** The session is gone: whatever is here is somebody else's now. */
  forget(): void {
    const why = new RunStoppedError("session_lost", "the worker's session was lost");
    for (const run of this.#running.values()) run.stop.abort(why);
    this.#running.clear();
    this.#waiting.clear();
  }

  stop(orders: readonly StopOrder[]): void {
    for (const { runId, fence, reason } of orders) {
      const waiting = this.#waiting.get(runId);
      if (waiting?.fence === fence) {
        this.#waiting.delete(runId);
        const outcome = { kind: "cancelled", error: null } as const;
        this.#options.reporter.add({ runId, fence, startedAgoMs: 0, outcome });
      }
      const running = this.#running.get(runId);
      if (running?.assignment.fence !== fence || running.isStopping) continue;
      running.isStopping = true;
      running.stop.abort(new RunStoppedError(reason));
    }
  }

  /** The run was given to somebody else while its handler is at work. */
  loseClaim({ runId, fence }: Pick<Assignment, "runId" | "fence">): void {
    const running = this.#running.get(runId);
    if (running?.assignment.fence === fence) running.stop.abort(new RunStoppedError("claim_lost"));
  }

  report({ assignment, startedAt }: Running, outcome: Outcome): void {
    const { runId, fence, task, attempt, maxAttempts } = assignment;
    if (outcome.kind === "failed") {
      const about = { runId: shownId("run", runId), task, attempt, maxAttempts };
      this.#options.onFailed({ type: "run.attempt_failed", ...about, error: outcome.error });
    }
    const startedAgoMs = this.#site.timers.monotonic() - startedAt;
    this.#options.reporter.add({ runId, fence, startedAgoMs, outcome });
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
    return this.#isOpen && this.#slots.fits(assignment, taken);
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
      this.report(running, outcome);
      return 0;
    }
    this.#running.set(runId, running);
    running.done = outcome.then((ended) => {
      this.#end(running, ended);
      this.#beginNext();
    });
    return this.#slots.takenBy(assignment);
  }

  #end(running: Running, ended: Outcome): void {
    const { runId } = running.assignment;
    if (this.#running.get(runId) !== running) return;
    // What another system has begun is not begun again.
    if (running.isLeaving && ended.kind !== "succeeded" && ended.kind !== "waiting") return;
    this.#running.delete(runId);
    if (running.isUnheard && ended.kind === "failed" && !isSpent(running)) {
      this.#options.onGivenBack(running.assignment);
      return;
    }
    this.report(running, running.isStopping ? stoppedOutcome(ended) : ended);
  }
}
