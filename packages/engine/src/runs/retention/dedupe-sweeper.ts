import type { DurationMs } from "@carillon/core";
import type { DedupeStore } from "@carillon/store";
import type { Membership } from "../../context.js";

export interface DedupeSweeperOptions {
  readonly dedupes: Pick<DedupeStore, "sweep">;
  readonly membership: () => Membership;
  /** Rows of one pass. */
  readonly batch: number;
}

const idleMs: DurationMs = 10_000;

/** Removes dedupe keys whose run counts no more. The owner of the first shard does it, so that one node does. */
export class DedupeSweeper {
  readonly #options: DedupeSweeperOptions;

  constructor(options: DedupeSweeperOptions) {
    this.#options = options;
  }

  /** Answers after how long it should be called again. */
  async tick(): Promise<DurationMs> {
    const { dedupes, membership, batch } = this.#options;
    if (!membership().epochs.has(0)) return idleMs;
    const { gone, kept } = await dedupes.sweep(batch);
    return gone + kept < batch ? idleMs : 0;
  }
}
