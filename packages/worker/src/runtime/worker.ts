import type { Assignment, Completion, DurationMs, Outcome, StopOrder } from "@carillon/core";
import { RunStoppedError, stoppedOutcome } from "./errors.js";
import { execute } from "./execute.js";
import type { Task } from "./task.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface WorkerOptions {
  readonly transport: Transport;
  readonly tasks: readonly Task[];
  readonly name: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly timers: WorkerTimers;
  readonly onEvent?: (event: WorkerEvent) => void;
}

export type WorkerEvent =
  | { readonly type: "worker.started" }
  | { readonly type: "worker.session_lost"; readonly running: number }
  | { readonly type: "worker.transport_failed"; readonly error: unknown }
  | { readonly type: "run.result_refused"; readonly runId: string }
  | { readonly type: "worker.drained"; readonly givenBack: number };

interface Running {
  readonly assignment: Assignment;
  readonly controller: AbortController;
  readonly startedAt: DurationMs;
  done: Promise<void>;
  /** It was asked to stop: if its handler throws now, it was not a failure. */
  isStopping: boolean;
}

const pollWaitMs = 20_000;
const pauseAfterErrorMs = 500;

/**
 * Takes runs while it has free slots, executes them, and reports each result until it is accepted or refused. The same
 * runtime serves in-process and over HTTP: only the transport differs.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #running = new Map<string, Running>();
  /** Orders to stop that came sooner than the runs they are for, which the poll under way brings. */
  readonly #early = new Map<string, StopOrder>();
  #pending: Completion[] = [];
  #polling = new AbortController();
  #state: "new" | "running" | "draining" | "stopped" = "new";
  #loop: Promise<void> = Promise.resolve();
  #reporting: Promise<void> | null = null;
  #slotFreed: (() => void) | null = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]));
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "running";
    await this.#open();
    this.#emit({ type: "worker.started" });
    this.#loop = this.#takeRuns();
  }

  /**
   * Takes nothing more, waits for what runs up to the grace time, then signals the rest and gives it back without
   * spending anything. Idempotent.
   */
  async stop(graceMs: DurationMs): Promise<void> {
    if (this.#state === "draining" || this.#state === "stopped") return this.#loop;
    const wasRunning = this.#state === "running";
    this.#state = "draining";
    this.#polling.abort();
    this.#slotFreed?.();
    await this.#loop;
    if (!wasRunning) return;
    await this.#within(graceMs, Promise.all([...this.#running.values()].map((run) => run.done)));
    const left = [...this.#running.values()];
    for (const run of left) run.controller.abort(new Error("the worker stops"));
    this.#running.clear();
    // A result that is still under way must be answered before the session goes, or the run would be taken for lost.
    await this.#reporting;
    await this.#report();
    await this.#leave(left);
    this.#state = "stopped";
    this.#emit({ type: "worker.drained", givenBack: left.length });
  }

  /** The session is gone: whatever runs here is somebody else's now. */
  async #startOver(): Promise<void> {
    this.#emit({ type: "worker.session_lost", running: this.#running.size });
    for (const run of this.#running.values()) run.controller.abort(new Error("the worker's session was lost"));
    this.#running.clear();
    this.#pending = [];
    await this.#open();
  }

  async #open(): Promise<void> {
    const { transport, name, queues, slots } = this.#options;
    const registration = { name, queues, slots, tasks: [...this.#tasks.keys()] };
    await transport.open(registration, { onStop: (orders) => this.#stopRuns(orders) });
  }

  async #takeRuns(): Promise<void> {
    while (this.#state === "running") {
      const free = this.#options.slots - this.#running.size;
      if (free <= 0) {
        await new Promise<void>((resolve) => (this.#slotFreed = resolve));
        continue;
      }
      try {
        const { signal } = this.#polling;
        const assignments = await this.#options.transport.poll({ free, waitMs: pollWaitMs, signal });
        for (const assignment of assignments) this.#begin(assignment);
        this.#early.clear();
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    if (this.#state !== "running") return;
    try {
      if (this.#options.transport.isSessionLost(error)) return await this.#startOver();
      this.#emit({ type: "worker.transport_failed", error });
    } catch (again) {
      this.#emit({ type: "worker.transport_failed", error: again });
    }
    await this.#pause(pauseAfterErrorMs);
  }

  #begin(assignment: Assignment): void {
    if (this.#running.has(assignment.runId)) return;
    const controller = new AbortController();
    const running: Running = {
      assignment,
      controller,
      startedAt: this.#options.timers.monotonic(),
      done: Promise.resolve(),
      isStopping: false,
    };
    this.#running.set(assignment.runId, running);
    running.done = execute(this.#tasks.get(assignment.task), assignment, controller, this.#options.timers).then(
      (outcome) => this.#end(running, outcome),
    );
    const order = this.#early.get(assignment.runId);
    if (order !== undefined) this.#stopRuns([order]);
  }

  #stopRuns(orders: readonly StopOrder[]): void {
    for (const order of orders) {
      const { runId, fence, reason } = order;
      const running = this.#running.get(runId);
      if (running === undefined) this.#early.set(runId, order);
      else if (running.assignment.fence === fence && !running.isStopping) {
        running.isStopping = true;
        running.controller.abort(new RunStoppedError(reason));
      }
    }
  }

  #end(running: Running, ended: Outcome): void {
    const outcome = running.isStopping ? stoppedOutcome(ended) : ended;
    const { runId, fence } = running.assignment;
    if (this.#running.get(runId) !== running) return;
    this.#running.delete(runId);
    const startedAgoMs = this.#options.timers.monotonic() - running.startedAt;
    this.#pending.push({ runId, fence, startedAgoMs, outcome });
    this.#slotFreed?.();
    this.#slotFreed = null;
    this.#reporting ??= this.#report().finally(() => (this.#reporting = null));
  }

  /** Sends results in batches: while one is under way, the next gathers. A result is kept until somebody answers. */
  async #report(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        const accepted = await this.#options.transport.complete(batch);
        for (const { runId } of batch) if (!accepted.has(runId)) this.#emit({ type: "run.result_refused", runId });
      } catch (error) {
        if (this.#options.transport.isSessionLost(error))
          return this.#emit({ type: "worker.session_lost", running: batch.length });
        this.#emit({ type: "worker.transport_failed", error });
        this.#pending = [...batch, ...this.#pending];
        if (this.#state === "stopped") return;
        await this.#pause(pauseAfterErrorMs);
      }
    }
  }

  async #leave(left: readonly Running[]): Promise<void> {
    const { transport } = this.#options;
    try {
      if (left.length > 0)
        await transport.giveBack(left.map(({ assignment }) => ({ runId: assignment.runId, fence: assignment.fence })));
      await transport.close();
    } catch (error) {
      this.#emit({ type: "worker.transport_failed", error });
    }
  }

  #within(limitMs: DurationMs, work: Promise<unknown>): Promise<void> {
    const { timers } = this.#options;
    return new Promise((resolve) => {
      const timer = timers.setTimeout(resolve, limitMs);
      void work.finally(() => {
        timers.clearTimeout(timer);
        resolve();
      });
    });
  }

  #pause(ms: DurationMs): Promise<void> {
    return new Promise((resolve) => void this.#options.timers.setTimeout(resolve, ms));
  }

  #emit(event: WorkerEvent): void {
    this.#options.onEvent?.(event);
  }
}
