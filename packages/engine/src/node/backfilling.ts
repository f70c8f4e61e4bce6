import { CarillonError, type DurationMs, type Instant } from "@carillon/core";
import { backfillApi } from "../backfills/backfill-api.js";
import { BackfillRunner } from "../backfills/backfill-runner.js";
import { PastRules } from "../backfills/past-rules.js";
import { StepTaker } from "../backfills/take-step.js";
import type { CalendarCompiler } from "../calendars/compile-edition.js";
import type { Membership } from "../cluster/coordinator.js";
import type { OnEngineEvent } from "../events.js";
import type { ChangeTransaction } from "../jobs/change/change-transaction.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { Backfills } from "../backfills/backfills.js";
import type { Settled } from "../jobs/transaction/settler.js";
import type { Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";

export interface BackfillingOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  readonly transaction: ChangeTransaction;
  readonly compiler: CalendarCompiler;
  readonly membership: () => Membership;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly onStarted: () => void;
  readonly onStepped: (shard: number, settled: Settled) => void;
  readonly onEvent: OnEngineEvent;
}

export interface Backfilling {
  readonly api: Backfills;
  /** A run of this job ended here; answers whether a pass is worth it. */
  readonly hint: (jobId: string) => boolean;
  /** One pass over the backfills of this node's shards; answers when to come again. */
  readonly tick: () => Promise<DurationMs>;
}

/** The parts that make runs of the past, put together. */
export function makeBackfilling(options: BackfillingOptions): Backfilling {
  const { db, store, transaction, compiler, membership, newId, now, onStarted, onStepped, onEvent } = options;
  const runs = new RunReader(store.reads);
  const rules = new PastRules(store.past, compiler);
  const steps = new StepTaker({ store, rules, now });
  const runner = new BackfillRunner({ backfills: store.backfills, steps, membership, now, onStepped, onEvent });
  const api = backfillApi({
    db,
    store,
    transaction,
    jobs: new JobReader(store.jobs, runs, new RunLister(store.search, runs)),
    rules,
    newId,
    now,
    namespaceId: async (name) => {
      const id = await store.namespaces.find(name);
      if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
      return id;
    },
    onStarted,
  });
  return {
    api,
    hint: (jobId) => runner.hint(jobId),
    async tick() {
      await runner.tick();
      return runner.idleMs;
    },
  };
}
