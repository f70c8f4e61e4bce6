import type { DurationMs } from "@carillon/core";

/**
 * What a look costs that is made again and again, for whoever makes dear ones less often. One that something else held up, once,
 * says nothing of it: the one before has to have taken as long.
 */
export class SteadyCost {
  #lastMs: DurationMs = Number.POSITIVE_INFINITY;

  /** A look took so long. */
  after(tookMs: DurationMs): DurationMs {
    const costMs = Math.min(tookMs, this.#lastMs);
    this.#lastMs = tookMs;
    return costMs;
  }
}
