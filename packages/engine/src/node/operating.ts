import { CarillonError, type DurationMs } from "@carillon/core";
import type { Membership } from "../cluster/coordinator.js";
import type { OnEngineEvent } from "../events.js";
import { Repeats } from "../dead-letters/repeats.js";
import type { ChangeTransaction } from "../jobs/change/change-transaction.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { Operations } from "../operations/operations.js";
import type { RunChanges } from "../runs/run-changes.js";
import { BulkTargets } from "../operations/bulk-targets.js";
import { OperationRunner } from "../operations/operation-runner.js";
import { operationsApi } from "../operations/operations-api.js";
import { RunChanger } from "../runs/run-changer.js";
import type { Database, DueRun, Queued } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import type { Teller } from "../webhooks/teller.js";
import { withinNamespace } from "./engine-api.js";

export interface OperatingOptions {
  readonly db: Database;
  readonly store: EngineStore;
  readonly transaction: ChangeTransaction;
  readonly teller: Teller;
  readonly membership: () => Membership;
  readonly newId: () => string;
  readonly shards: number;
  readonly onQueued: (queued: readonly Queued[]) => void;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onStopped: () => void;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onStarted: () => void;
  readonly onEvent: OnEngineEvent;
}

export interface Operating {
  readonly api: Operations & RunChanges;
  /** One pass over the operations of this node's shards; answers when to come again. */
  readonly tick: () => Promise<DurationMs>;
}

/** Runs that statistics of a job look at. */
const statsRuns = 1_000;

/** The parts that change runs, one or many, put together. */
export function makeOperating(options: OperatingOptions): Operating {
  const { db, store, transaction, teller, membership, newId, shards, onStarted } = options;
  const runs = new RunReader(store.reads);
  const lister = new RunLister(store.search, runs);
  const jobs = new JobReader(store.jobs, runs, lister);
  const within = withinNamespace(store.namespaces);
  const changer = new RunChanger({ ...options, changes: store.runChanges, runs, rank: store.rank });
  const { operations, failures } = store;
  const targets = new BulkTargets({ lister, runs });
  const repeats = new Repeats({ transaction, failures, teller, newId });
  const runner = new OperationRunner({ operations, targets, changer, repeats, failures, membership });
  return {
    tick: () => runner.tick(),
    api: {
      ...operationsApi({ db, operations, targets, runner, queues: store.queues, within, newId, shards, onStarted }),
      cancelRun: (namespace, id) => within(namespace, (namespaceId) => changer.cancel(namespaceId, id)),
      rescheduleRun: (namespace, id, runAt) =>
        within(namespace, (namespaceId) => changer.reschedule(namespaceId, id, runAt)),
      jobStats: (namespace, ref) =>
        within(namespace, async (namespaceId) => {
          const job = await jobs.find(namespaceId, ref);
          if (job === null) throw new CarillonError("not_found", "there is no such job");
          return store.runChanges.jobStats(namespaceId, job.id, statsRuns);
        }),
    },
  };
}
