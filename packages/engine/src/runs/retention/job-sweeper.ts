import type { DurationMs, Instant } from "@carillon/core";
import type { LedgerKey, RetentionSweeps } from "@carillon/store";

export interface JobSweeperOptions {
  readonly sweeps: RetentionSweeps;
  /** One node of the cluster does it. */
  readonly isOurs: () => boolean;
  /** Rows that one part of a round looks at. */
  readonly batch: number;
  /** The database's clock. */
  readonly now: () => Instant;
  /** Days before today whose runs are kept. */
  readonly historyDays: number;
}

const restMs: DurationMs = 60_000;
const dayMs: DurationMs = 86_400_000;

/**
 * Removes what is on record about jobs when the history of that time is gone: entries of the ledger, backfills that ended,
 * jobs that are over. It goes round the tables at leisure, and goes on at once only where there was something to remove.
 */
export class JobSweeper {
  readonly #options: JobSweeperOptions;
  #ledger: LedgerKey | null = null;
  #jobs: string | null = null;

  constructor(options: JobSweeperOptions) {
    this.#options = options;
  }

  /** One part of each round; answers how long to wait for the next. */
  async tick(): Promise<DurationMs> {
    const { sweeps, batch, isOurs, now, historyDays } = this.#options;
    if (!isOurs()) return restMs;
    const before = now() - historyDays * dayMs;
    const jobs = await sweeps.jobs(this.#jobs, before, batch);
    this.#jobs = jobs.next;
    const ledger = await sweeps.ledger(this.#ledger, before, batch);
    this.#ledger = ledger.next;
    const backfills = await sweeps.backfills(before, batch);
    return jobs.gone + ledger.gone + backfills > 0 ? 0 : restMs;
  }
}
