import { CarillonError, type DurationMs, type Timers } from "@carillon/core";

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

/** Admits at most `size` callers at a time, in the order of their calls. Waiting callers are bounded in number and in time. */
export class Gate {
  readonly #size: number;
  readonly #maxWaiting: number;
  readonly #timers: Timers;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;

  constructor(options: { size: number; maxWaiting: number; timers: Timers }) {
    this.#size = options.size;
    this.#maxWaiting = options.maxWaiting;
    this.#timers = options.timers;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  async enter(waitMs: DurationMs): Promise<void> {
    if (this.#inside < this.#size) {
      this.#inside++;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new CarillonError("overloaded", `${this.#waiting.size} calls already wait for a database connection.`);
    }
    await this.#wait(waitMs);
  }

  /** Admits the caller that waits longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#inside--;
      return;
    }
    this.#waiting.delete(next);
    next.admit();
  }

  /** Every waiting caller fails with this error. */
  refuseAll(error: Error): void {
    for (const waiter of this.#waiting) waiter.refuse(error);
    this.#waiting.clear();
  }

  #wait(waitMs: DurationMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          this.#timers.clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          this.#timers.clearTimeout(timer);
          reject(error);
        },
      };
      const timer = this.#timers.setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new CarillonError("overloaded", `No database connection became free within ${waitMs} ms.`));
      }, waitMs);
      this.#waiting.add(waiter);
    });
  }
}
