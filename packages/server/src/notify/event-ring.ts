import type { Notice } from "./wire-event.js";

/** The last events, numbered from 1. Older ones are forgotten: memory does not grow. */
export class EventRing {
  readonly #size: number;
  readonly #notices: Notice[] = [];
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

  add(notice: Notice): void {
    this.#last += 1;
    this.#notices[this.#last % this.#size] = notice;
  }

  get(number: number): Notice | undefined {
    return number < this.first || number > this.#last ? undefined : this.#notices[number % this.#size];
  }
}
