import {
  type Assignment,
  type Completion,
  type DurationMs,
  type Outcome,
  type RunError,
  shownId,
  type StopOrder,
} from "@carillon/core";
import { RunStoppedError, stoppedOutcome } from "./errors.js";
import { execute, type ExecuteOptions } from "./execute.js";
import type { StateSender } from "./reporter.js";
import { type SignalledHandler, StopSignal } from "./stop-signal.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import { type CreateRuns, taskWeights } from "./transport.js";

/** A handler threw or timed out. The server decides whether the run is retried. */
export interface FailedAttemptEvent {
  readonly type: "run.attempt_failed";
  /** run_… */
  readonly runId: string;
  readonly task: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly error: RunError;
}

/** What all runs of a worker share. */
interface RunServices {
  readonly stateSender: StateSender;
  readonly timers: WorkerTimers;
  readonly createRuns: CreateRuns | undefined;
  /** The signal of a handler fired. */
  readonly onSignal: (run: SignalledHandler, reason: Error) => void;
}

export interface HeldRunsOptions extends RunServices {
  readonly tasks: readonly Task[];
  readonly slots: number;
  readonly results: { add(completion: Completion): void };
  readonly onFailed: (event: FailedAttemptEvent) => void;
  /** A run ended in a way that spends no attempt: it goes back to its queue. */
  readonly onGiveBack: (assignment: Assignment) => void;
}

/** The runs that a worker holds: the active ones, which have slots, and the ones that are queued for a slot, in their order. */
export class HeldRuns {
  readonly #options: HeldRunsOptions;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #slots: Slots;
  readonly #active = new Map<string, ActiveRun>();
  /** Assigned ahead of a free slot. */
  readonly #queued = new Map<string, Assignment>();
  #canStartRuns = false;

  constructor(options: HeldRunsOptions) {
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]));
    this.#slots = new Slots(options);
  }

  get activeCount(): number {
    return this.#active.size;
  }

  activeRuns(): Iterable<ActiveRun> {
    return this.#active.values();
  }

  /** Resolves when all runs that are active now have ended. */
  activeRunsEnd(): Promise<unknown> {
    return Promise.all([...this.#active.values()].map((run) => run.done));
  }

  allowStarts(): void {
    this.#canStartRuns = true;
  }

  /** From now on every run that is taken stays queued. */
  forbidStarts(): void {
    this.#canStartRuns = false;
  }

  /** Starts runs in their order while there are slots, and queues the rest. Ignores a claim that is active already. */
  take(assignments: readonly Assignment[]): void {
    let used = this.#slots.usedBy(this.#active);
    for (const assignment of assignments) {
      const { runId, fence } = assignment;
      if (this.#active.get(runId)?.assignment.fence === fence) continue;
      if (this.#queued.size > 0 || !this.#canStart(assignment, used)) this.#queued.set(runId, assignment);
      else used += this.#start(assignment);
    }
    if (this.#queued.size > 0) this.#startQueued();
  }

  /** Removes and returns the queued runs. */
  removeQueued(): Assignment[] {
    const queued = [...this.#queued.values()];
    this.#queued.clear();
    return queued;
  }

  /** Removes and returns the active runs: from now on the worker ignores how they end. */
  removeActive(): ActiveRun[] {
    const active = [...this.#active.values()];
    this.#active.clear();
    return active;
  }

  /** The worker stops: active handlers have the rest of its time to save their state. */
  signalDrain(): void {
    for (const run of this.#active.values()) {
      run.isDraining = true;
      run.stop.abort(new RunStoppedError("drain", "the worker stops"));
    }
  }

  /** The engine may soon declare this worker lost. */
  signalDisconnected(): void {
    for (const run of this.#active.values()) {
      run.isDisconnected = true;
      run.stop.abort(
        new RunStoppedError("disconnected", "the server has not answered for too long; others may get the run"),
      );
    }
  }

  /** The session is lost: other workers may have all of these runs now. */
  abandonAll(): void {
    const reason = new RunStoppedError("session_lost", "the worker's session was lost");
    for (const run of this.#active.values()) run.stop.abort(reason);
    this.#active.clear();
    this.#queued.clear();
  }

  stop(orders: readonly StopOrder[]): void {
    for (const { runId, fence, reason } of orders) {
      if (this.#queued.get(runId)?.fence === fence) {
        this.#queued.delete(runId);
        const outcome = { kind: "cancelled", error: null } as const;
        this.#options.results.add({ runId, fence, startedAgoMs: 0, outcome });
      }
      const active = this.#active.get(runId);
      if (active?.assignment.fence !== fence || active.isStopRequested) continue;
      active.isStopRequested = true;
      active.stop.abort(new RunStoppedError(reason));
    }
  }

  /** Another worker has claimed the run while its handler is active here. */
  signalClaimLost({ runId, fence }: Pick<Assignment, "runId" | "fence">): void {
    const active = this.#active.get(runId);
    if (active?.assignment.fence === fence) active.stop.abort(new RunStoppedError("claim_lost"));
  }

  report({ assignment, startedAt }: ActiveRun, outcome: Outcome): void {
    const { runId, fence, task, attempt, maxAttempts } = assignment;
    if (outcome.kind === "failed") {
      const run = { runId: shownId("run", runId), task, attempt, maxAttempts };
      this.#options.onFailed({ type: "run.attempt_failed", ...run, error: outcome.error });
    }
    const startedAgoMs = this.#options.timers.monotonic() - startedAt;
    this.#options.results.add({ runId, fence, startedAgoMs, outcome });
  }

  #startQueued(): void {
    let used = this.#slots.usedBy(this.#active);
    for (const assignment of this.#queued.values()) {
      // A heavy run blocks the ones behind it: if lighter ones overtook it, it might never start.
      if (!this.#canStart(assignment, used)) return;
      this.#queued.delete(assignment.runId);
      used += this.#start(assignment);
    }
  }

  #canStart(assignment: Assignment, used: number): boolean {
    return this.#canStartRuns && this.#slots.fits(assignment, used);
  }

  /** Returns how many slots the run uses from now on: 0 if it has ended synchronously, in which case nothing could have stopped it. */
  #start(assignment: Assignment): number {
    const { runId, task } = assignment;
    const previous = this.#active.get(runId);
    if (previous !== undefined) {
      previous.stop.abort(new RunStoppedError("claim_lost", "the run was claimed again"));
      this.#active.delete(runId);
    }
    const run = new ActiveRun(assignment, this.#options);
    const outcome = execute(this.#tasks.get(task), assignment, run);
    if (!(outcome instanceof Promise)) {
      this.report(run, outcome);
      return 0;
    }
    this.#active.set(runId, run);
    run.done = outcome.then((ended) => {
      this.#end(run, ended);
      this.#startQueued();
    });
    return this.#slots.weightOf(assignment);
  }

  #end(run: ActiveRun, outcome: Outcome): void {
    const { runId, atMostOnce } = run.assignment;
    if (this.#active.get(runId) !== run) return;
    // A run that waits for a callback is reported: another system has started its work, which must not start twice.
    if (run.isDraining && outcome.kind !== "succeeded" && outcome.kind !== "waiting") return;
    this.#active.delete(runId);
    if (run.isDisconnected && outcome.kind === "failed" && !atMostOnce) {
      this.#options.onGiveBack(run.assignment);
      return;
    }
    this.report(run, run.isStopRequested ? stoppedOutcome(outcome) : outcome);
  }
}

/** How many slots the worker has and how many each run uses. */
class Slots {
  readonly #count: number;
  /** Of tasks whose runs use more than one slot; null if there are none. */
  readonly #weights: ReadonlyMap<string, number> | null;

  constructor(worker: { readonly tasks: readonly Task[]; readonly slots: number }) {
    this.#count = worker.slots;
    this.#weights = taskWeights(worker);
  }

  weightOf({ task }: Assignment): number {
    return this.#weights?.get(task) ?? 1;
  }

  usedBy(active: ReadonlyMap<string, ActiveRun>): number {
    if (this.#weights === null) return active.size;
    return [...active.values()].reduce((sum, { assignment }) => sum + this.weightOf(assignment), 0);
  }

  /** Whether the run can start while `used` slots are used. */
  fits(assignment: Assignment, used: number): boolean {
    return used + this.weightOf(assignment) <= this.#count;
  }
}

/** Shared by all runs that end synchronously. */
const resolved = Promise.resolve();

/** A run whose handler is active. One object per run: what few handlers need is created on first use. */
export class ActiveRun implements SignalledHandler, ExecuteOptions {
  readonly assignment: Assignment;
  readonly startedAt: DurationMs;
  /** Resolves when the run has ended. */
  done: Promise<void> = resolved;
  /** The engine asked it to stop: an error that its handler throws now is not a failure. */
  isStopRequested = false;
  /** The worker stops: the run is given back unless it succeeds. */
  isDraining = false;
  /** The engine was informed that it has started. */
  isStartReported = false;
  /** Signalled because the engine may soon declare this worker lost: no attempt is spent. */
  isDisconnected = false;
  hasEnded = false;
  onLateEnd: (() => void) | null = null;
  readonly #services: RunServices;
  #stop: StopSignal | null = null;

  constructor(assignment: Assignment, services: RunServices) {
    this.assignment = assignment;
    this.startedAt = services.timers.monotonic();
    this.#services = services;
  }

  get stop(): StopSignal {
    return (this.#stop ??= new StopSignal((reason) => this.#services.onSignal(this, reason)));
  }

  get stateSender(): StateSender {
    return this.#services.stateSender;
  }

  get timers(): WorkerTimers {
    return this.#services.timers;
  }

  get createRuns(): CreateRuns | undefined {
    return this.#services.createRuns;
  }

  onHandlerEnd(): void {
    this.hasEnded = true;
    this.onLateEnd?.();
  }
}
