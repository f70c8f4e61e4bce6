import type { Notice } from "./wire-event.js";

/** What stands in the place of events that were lost on their way here. */
export const lost = "lost";

/** The last events, numbered from 1. Older ones are forgotten: memory does not grow. */
export class EventRing {
  readonly #size: number;
  readonly #notices: (Notice | typeof lost)[] = [];
  #last = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** The number of the last event; 0 when there was none. */
  get last(): number {
    return this.#last;
  }

  /** The number of the oldest event that is still known. */
  get first(): number {
    return Math.max(1, this.#last - this.#size + 1);
  }

  add(notice: Notice | typeof lost): void {
    this.#last += 1;
    this.#notices[this.#last % this.#size] = notice;
  }

  get(number: number): Notice | typeof lost | undefined {
    return number < this.first || number > this.#last ? undefined : this.#notices[number % this.#size];
  }
}
