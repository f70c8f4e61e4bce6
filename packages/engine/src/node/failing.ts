import type { Clock, DurationMs, Instant } from "@carillon/core";
import type { OnEngineEvent, FailedRun } from "../events.js";
import { ErrorTally } from "../dead-letters/error-tally.js";
import { failuresApi } from "../dead-letters/failures-api.js";
import { Repeats } from "../dead-letters/repeats.js";
import type { ChangeTransaction } from "../jobs/change/change-transaction.js";
import { RunReader } from "../runs/run-reader.js";
import type { Failures } from "../dead-letters/failures.js";
import { Expirer } from "../runs/expirer.js";
import type { Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import type { Teller } from "../webhooks/teller.js";
import { withinNamespace } from "./engine-api.js";

export interface FailingOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  readonly clock: Clock;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly newId: () => string;
  readonly batch: number;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
}

export interface Failing {
  readonly onFailed: (run: FailedRun) => void;
  readonly api: (transaction: ChangeTransaction, teller: Teller) => Failures;
  /** Passes of loops; each answers after how long the next is due. */
  readonly expire: () => Promise<DurationMs>;
  readonly count: () => Promise<DurationMs>;
}

/** The parts that deal with runs that failed, put together. */
export function makeFailing(options: FailingOptions): Failing {
  const { db, store, newId, now } = options;
  const tally = new ErrorTally({ failures: store.failures, now });
  const onFailed = (run: FailedRun): void => tally.add(run);
  const expirer = new Expirer({ ...options, runs: store.runs, onFailed });
  return {
    onFailed,
    expire: () => expirer.tick(),
    count: () => tally.tick(),
    api: (transaction, teller) =>
      failuresApi({
        db,
        failures: store.failures,
        runs: new RunReader(store.reads),
        repeats: new Repeats({ transaction, failures: store.failures, teller, newId }),
        within: withinNamespace(store.namespaces),
      }),
  };
}
