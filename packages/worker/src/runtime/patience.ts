import type { DurationMs } from "@carillon/core";
import type { WorkerTimers } from "./timers.js";

/** Waits for things up to a limit; the wait under way can be ended. */
export class Patience {
  readonly #timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  #end: () => void = () => undefined;

  constructor(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">) {
    this.#timers = timers;
  }

  /** Resolves when the work has settled, when the time is over, or when the wait is ended. */
  within(limitMs: DurationMs, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#timers.clearTimeout(timer);
        resolve();
      };
      const timer = this.#timers.setTimeout(end, limitMs);
      this.#end = end;
      void work.finally(end);
    });
  }

  /** Ends the wait under way. */
  end(): void {
    this.#end();
  }
}
