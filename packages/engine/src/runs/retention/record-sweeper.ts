import type { DurationMs, Instant } from "@carillon/core";
import type { ReceiptStore, RecordSweeps } from "@carillon/store";

export interface RecordSweeperOptions {
  readonly sweeps: RecordSweeps;
  readonly receipts: Pick<ReceiptStore, "sweep">;
  /** One node of the cluster does it. */
  readonly isOurs: () => boolean;
  readonly batch: number;
  /** The database's clock. */
  readonly now: () => Instant;
  /** Days before today whose runs are kept. */
  readonly historyDays: number;
}

const restMs: DurationMs = 60_000;
const dayMs: DurationMs = 86_400_000;
const nobody = "00000000-0000-0000-0000-000000000000";

/**
 * Removes what runs left behind that have ended, and what was to be remembered until now. It goes round the tables some rows at
 * a time: ending a run costs nothing more for it.
 */
export class RecordSweeper {
  readonly #options: RecordSweeperOptions;
  #states = nobody;
  #steps = nobody;
  #callbacks = "";

  constructor(options: RecordSweeperOptions) {
    this.#options = options;
  }

  /** Answers how long to wait for the next pass: not at all while there may be more. */
  async tick(): Promise<DurationMs> {
    const { sweeps, receipts, batch, isOurs, now, historyDays } = this.#options;
    if (!isOurs()) return restMs;
    const states = await sweeps.states(this.#states, batch);
    const steps = await sweeps.steps(this.#steps, batch);
    const onces = await sweeps.onces(batch);
    const keys = await receipts.sweep(batch);
    const failures = await sweeps.failures(now() - historyDays * dayMs, batch);
    const callbacks = await sweeps.callbacks(this.#callbacks, batch);
    this.#callbacks = callbacks ?? "";
    this.#states = states ?? nobody;
    this.#steps = steps ?? nobody;
    const isThrough = states === null && steps === null && callbacks === null;
    return isThrough && Math.max(onces, keys, failures) < batch ? restMs : 0;
  }
}
