import { createStore, type Database, type Store } from "@carillon/store";
import { Catalog, type LimitOwnerCache } from "../../src/catalog/catalog.js";
import type { NamespaceCache } from "../../src/catalog/namespaces.js";
import type { QueueCache } from "../../src/catalog/queues.js";
import type { RankRun, TaskDurations } from "../../src/catalog/rank-run.js";
import type { TaskCache } from "../../src/catalog/tasks.js";
import { JobUnitOfWork } from "../../src/jobs/transaction/job-unit-of-work.js";
import { fireStore } from "../../src/scheduler/settle-fires.js";
import type { FireStore } from "../../src/schedules/fire-store.js";

/** The store with the caches and the units of work that a node has over it, without the node. */
export interface EngineStore extends Store {
  readonly catalog: Catalog;
  readonly fires: FireStore;
  readonly limitOwners: LimitOwnerCache;
  readonly namespaceCache: NamespaceCache;
  readonly queueCache: QueueCache;
  readonly taskCache: TaskCache;
  readonly durations: TaskDurations;
  readonly rank: RankRun;
  readonly unitOfWork: JobUnitOfWork;
}

export function createEngineStore(db: Database): EngineStore {
  const store = createStore(db);
  const catalog = new Catalog({ store, wakeups: { announce: () => undefined } });
  const unitOfWork = new JobUnitOfWork({
    reads: store.jobTransactionReads,
    writes: store.jobTransactionWrites,
    transaction: store.historyTransaction,
    rank: catalog.rank,
  });
  return {
    ...store,
    catalog,
    fires: fireStore(store, unitOfWork),
    limitOwners: catalog.limitOwners,
    namespaceCache: catalog.namespaces,
    queueCache: catalog.queues,
    taskCache: catalog.tasks,
    durations: catalog.durations,
    rank: catalog.rank,
    unitOfWork,
  };
}
