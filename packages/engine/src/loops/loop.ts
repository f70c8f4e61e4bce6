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
