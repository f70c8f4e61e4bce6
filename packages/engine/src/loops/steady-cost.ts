import type { DurationMs } from "@carillon/core";

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
