import type { Assignment, DurationMs } from "@carillon/core";
import type { ExecuteOptions } from "./execute.js";
import type { SignalledHandler } from "./ignored-signals.js";
import type { Notebook } from "./notebook.js";
import { StopSignal } from "./stop-signal.js";
import type { WorkerTimers } from "./timers.js";

/** What the runs of a worker share. */
export interface RunSite {
  readonly notebook: Notebook;
  readonly timers: WorkerTimers;
  /** The signal of a handler fired. */
  readonly onSignal: (run: SignalledHandler, reason: Error) => void;
}

/** Of runs that end at once; one for all of them. */
const over = Promise.resolve();

/** A run whose handler is at work. One object for each: what few handlers need is made when they do. */
export class Running implements SignalledHandler, ExecuteOptions {
  readonly assignment: Assignment;
  readonly startedAt: DurationMs;
  /** Resolves when it is over. */
  done: Promise<void> = over;
  /** It was asked to stop: if its handler throws now, it was not a failure. */
  isStopping = false;
  /** The worker stops: unless it has succeeded it is given back. */
  isLeaving = false;
  /** The engine knows that it has begun. */
  isTold = false;
  /** It was asked to stop since the engine may soon take this worker for dead: nothing is to be spent for it. */
  isUnheard = false;
  isSettled = false;
  onLateEnd: (() => void) | null = null;
  readonly #site: RunSite;
  #stop: StopSignal | null = null;

  constructor(assignment: Assignment, site: RunSite) {
    this.assignment = assignment;
    this.startedAt = site.timers.monotonic();
    this.#site = site;
  }

  get stop(): StopSignal {
    return (this.#stop ??= new StopSignal((reason) => this.#site.onSignal(this, reason)));
  }

  get notebook(): Notebook {
    return this.#site.notebook;
  }

  get timers(): WorkerTimers {
    return this.#site.timers;
  }

  onSettled(): void {
    this.isSettled = true;
    this.onLateEnd?.();
  }
}

/** Begun, and not to be begun again by anybody. */
export function isSpent({ assignment }: Running): boolean {
  return assignment.atMostOnce;
}
