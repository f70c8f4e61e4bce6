import type { DurationMs } from "@carillon/core";

/** A statement is to take no longer. */
const turnMs: DurationMs = 30;
/** Below so many the cost of the statement itself counts for more. */
const fewest = 50;

/**
 * How many runs one statement ends and claims where namespaces share workers. Whoever comes new waits for the statements that are under
 * way before its first run is claimed: on a machine that is slow, or busy, they have to be small.
 */
export class TurnLength {
  readonly #most: number;
  #size: number;

  constructor(most: number) {
    this.#most = most;
    this.#size = most;
  }

  get size(): number {
    return this.#size;
  }

  /** A statement took so long for so many. */
  took(runs: number, durationMs: DurationMs): void {
    if (runs < Math.min(fewest, this.#size)) return;
    const fitting = Math.floor((runs * turnMs) / Math.max(1, durationMs));
    const size = fitting < this.#size ? fitting : Math.min(fitting, this.#size * 2);
    this.#size = Math.max(Math.min(fewest, this.#most), Math.min(size, this.#most));
  }
}
