import type { DurationMs, Timers } from "@carillon/core";

export interface LoopOptions {
  /** One bounded pass; returns after how long the next one is due, at the latest. */
  readonly tick: () => Promise<DurationMs>;
  readonly timers: Timers;
  /** Called with the error of a tick. The next tick follows after `pauseOnErrorMs`. */
  readonly onError: (error: unknown) => void;
  readonly pauseOnErrorMs?: DurationMs;
}

/**
 * Paces a tick: never two at once, sooner when woken, until stopped. A wake during a tick is not lost: another tick follows.
 */
export class Loop {
  readonly #options: LoopOptions;
  #timer: unknown = null;
  #running: Promise<void> | null = null;
  #woken = false;
  #state: "new" | "started" | "stopped" = "new";

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#state !== "new") return;
    this.#state = "started";
    this.#run();
  }

  /** Requests a tick now. */
  wake(): void {
    if (this.#state !== "started") return;
    this.#woken = true;
    if (this.#running === null) this.#run();
  }

  /** Resolves when the current tick, if any, has ended. No tick follows. */
  async stop(): Promise<void> {
    this.#state = "stopped";
    this.#clearTimer();
    await this.#running;
  }

  #run(): void {
    this.#clearTimer();
    this.#woken = false;
    this.#running = this.#pass();
  }

  async #pass(): Promise<void> {
    let next: DurationMs;
    try {
      next = await this.#options.tick();
    } catch (error) {
      this.#options.onError(error);
      next = this.#options.pauseOnErrorMs ?? 500;
      this.#woken = false;
    }
    this.#running = null;
    if (this.#state !== "started") return;
    if (this.#woken) this.#run();
    else this.#timer = this.#options.timers.setTimeout(() => this.#run(), next);
  }

  #clearTimer(): void {
    if (this.#timer !== null) this.#options.timers.clearTimeout(this.#timer);
    this.#timer = null;
  }
}

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

/**
 * Smooths the cost of a recurring scan, by which a component spaces out expensive scans. A single slow scan may have been held up by
 * something else, so a cost counts only if the scan before took as long.
 */
export class SteadyCost {
  #lastMs: DurationMs = Number.POSITIVE_INFINITY;

  /** Takes the duration of a scan; returns the cost that counts. */
  after(tookMs: DurationMs): DurationMs {
    const costMs = Math.min(tookMs, this.#lastMs);
    this.#lastMs = tookMs;
    return costMs;
  }
}
