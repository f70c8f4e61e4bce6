import type { DurationMs, Timers } from "@carillon/core";
import { Loop } from "./loop.js";

/** Everything that a node does by itself, again and again. */
export type LoopName =
  | "scheduler"
  | "later"
  | "admitter"
  | "coordinator"
  | "calendars"
  | "backfills"
  | "queues"
  | "limits"
  | "after"
  | "rescuer"
  | "callbacks"
  | "expirer"
  | "errors"
  | "webhooks"
  | "notifier"
  | "history"
  | "records"
  | "jobs"
  | "dedupe"
  | "clock"
  | "waiters"
  | "operations"
  | "workers"
  | "gateway";

export type Ticks = Readonly<Record<LoopName, () => Promise<DurationMs>>>;

export interface NodeLoopsOptions {
  readonly timers: Timers;
  readonly onError: (loop: LoopName, error: unknown) => void;
}

/** The loops of a node by name, so that whoever has news can wake the one that is to look. */
export class NodeLoops {
  readonly #options: NodeLoopsOptions;
  readonly #loops = new Map<LoopName, Loop>();

  constructor(options: NodeLoopsOptions) {
    this.#options = options;
  }

  /** They start in this order. */
  pace(ticks: Ticks): void {
    const { timers, onError } = this.#options;
    for (const name of Object.keys(ticks) as LoopName[]) {
      this.#loops.set(name, new Loop({ tick: ticks[name], timers, onError: (error) => onError(name, error) }));
    }
  }

  /** Nothing before it has started. */
  wake(name: LoopName): void {
    this.#loops.get(name)?.wake();
  }

  start(names: Iterable<LoopName> = this.#loops.keys()): void {
    for (const name of names) this.#loops.get(name)?.start();
  }

  /** Resolves when the passes of these that are under way have ended; none follows. */
  async stop(names: Iterable<LoopName> = this.#loops.keys()): Promise<void> {
    const loops = Array.from(names, (name) => this.#loops.get(name)).filter((loop) => loop !== undefined);
    await Promise.all(loops.map((loop) => loop.stop()));
  }
}
