import type { DurationMs } from "@carillon/core";

/**
 * When a worker elsewhere was heard of last, and for how long after that it is said to live. One that has runs: a third of the silence
 * limit, since others wait to get them. One that has none may be heard of seldom: nothing of it is to be rescued.
 */
export class LastWord {
  readonly #silenceMs: DurationMs;
  #heardAt: DurationMs;
  #handedAt: DurationMs = Number.NEGATIVE_INFINITY;

  constructor(silenceMs: DurationMs, now: DurationMs) {
    this.#silenceMs = silenceMs;
    this.#heardAt = now;
  }

  hear(now: DurationMs): void {
    this.#heardAt = now;
  }

  /** Its connection broke: until it is heard of again nobody says that it lives. */
  unhear(): void {
    this.#heardAt = Number.NEGATIVE_INFINITY;
    this.#handedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * One that had nothing is given runs: from now on it has the time of one that has some. Whoever was not said to live any more is
   * not said to live for that.
   */
  hand(now: DurationMs): void {
    if (this.isHeard(now, true)) this.#handedAt = now;
  }

  isHeard(now: DurationMs, isIdle: boolean): boolean {
    if (isIdle) return now - this.#heardAt < (this.#silenceMs * 2) / 3;
    return now - Math.max(this.#heardAt, this.#handedAt) < this.#silenceMs / 3;
  }
}
