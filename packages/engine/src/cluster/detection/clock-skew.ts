import type { DurationMs } from "@carillon/core";
import type { OnEngineEvent } from "../../events.js";
import type { NodeReport } from "@carillon/store";

export interface MeasuredSkew {
  /** The host's wall clock minus the database's. */
  readonly skewMs: DurationMs;
  /** How far off that may be. */
  readonly uncertaintyMs: DurationMs;
}

/** Judges this node's clock with each pass, and says once when it leaves the tolerance and when it is back. */
export class SkewJudge {
  readonly #measure: () => MeasuredSkew;
  readonly #toleranceMs: DurationMs;
  readonly #onEvent: OnEngineEvent;
  #skewed = false;

  constructor(measure: () => MeasuredSkew, toleranceMs: DurationMs, onEvent: OnEngineEvent) {
    this.#measure = measure;
    this.#toleranceMs = toleranceMs;
    this.#onEvent = onEvent;
  }

  report(): NodeReport {
    const { skewMs, uncertaintyMs } = this.#measure();
    const skewed = Math.abs(skewMs) - uncertaintyMs > this.#toleranceMs;
    if (skewed !== this.#skewed) {
      this.#onEvent({ type: skewed ? "node.skewed" : "node.in_time", skewMs, toleranceMs: this.#toleranceMs });
    }
    this.#skewed = skewed;
    return { skewMs, takesShards: !skewed };
  }
}
