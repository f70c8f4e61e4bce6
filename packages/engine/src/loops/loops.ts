import type { DurationMs, Timers } from "@carillon/core";
import { Loop } from "./loop.js";

/** The loops of a node, as metrics and logs name them. */
export type LoopName =
  | "scheduler"
  | "far_future"
  | "overlap"
  | "coordinator"
  | "calendars"
  | "backfills"
  | "operations"
  | "queues"
  | "limits"
  | "dependencies"
  | "rescuer"
  | "callbacks"
  | "expirer"
  | "errors"
  | "webhooks"
  | "notifier"
  | "waiters"
  | "workers"
  | "gateway"
  | "history"
  | "records"
  | "jobs"
  | "dedupe"
  | "clock";

/** One bounded pass; returns after how long the next one is due, at the latest. */
export type Tick = () => Promise<DurationMs>;

export interface LoopsOptions {
  readonly timers: Timers;
  readonly onError: (loop: LoopName, error: unknown) => void;
}

/** Every loop of a node by its name. A component registers its loops when it is constructed; the engine starts and stops them. */
export class Loops {
  readonly #options: LoopsOptions;
  readonly #loops = new Map<LoopName, Loop>();

  constructor(options: LoopsOptions) {
    this.#options = options;
  }

  register(name: LoopName, tick: Tick): void {
    if (this.#loops.has(name)) throw new Error(`The loop ${name} is already registered.`);
    const { timers, onError } = this.#options;
    this.#loops.set(name, new Loop({ tick, timers, onError: (error) => onError(name, error) }));
  }

  /** Requests a pass now. A loop that has not started, or is not registered, stays as it is. */
  wake(name: LoopName): void {
    this.#loops.get(name)?.wake();
  }

  /** Starts the loops in the order in which they were registered. */
  start(names: Iterable<LoopName> = this.#loops.keys()): void {
    for (const name of names) this.#loops.get(name)?.start();
  }

  /** Resolves when the current passes have ended. No pass follows. */
  async stop(names: Iterable<LoopName> = this.#loops.keys()): Promise<void> {
    const loops = Array.from(names, (name) => this.#loops.get(name)).filter((loop) => loop !== undefined);
    await Promise.all(loops.map((loop) => loop.stop()));
  }
}
