import { createStore, type Database, type Store } from "@carillon/store";
import { Catalog } from "../../src/catalog/catalog.js";
import type { LimitOwners } from "../../src/catalog/limit-owner-cache.js";
import type { NamespaceBook } from "../../src/catalog/namespace-cache.js";
import type { QueueBook } from "../../src/catalog/queue-cache.js";
import type { RankRun } from "../../src/catalog/rank-run.js";
import type { TaskBook } from "../../src/catalog/task-cache.js";
import type { TaskDurations } from "../../src/catalog/task-durations.js";
import { Settler } from "../../src/jobs/transaction/settler.js";
import { fireStore } from "../../src/scheduler/settle-fires.js";
import type { FireStore } from "../../src/schedules/fire-store.js";

/** The store with the caches and the units of work that a node has over it, without the node. */
export interface EngineStore extends Store {
  readonly catalog: Catalog;
  readonly fires: FireStore;
  readonly limitOwners: LimitOwners;
  readonly namespaceBook: NamespaceBook;
  readonly queueBook: QueueBook;
  readonly taskBook: TaskBook;
  readonly durations: TaskDurations;
  readonly rank: RankRun;
  readonly settler: Settler;
}

export function createEngineStore(db: Database): EngineStore {
  const store = createStore(db);
  const catalog = new Catalog(store);
  const settler = new Settler(store.settlementReads, store.settlementWrites, catalog.rank);
  return {
    ...store,
    catalog,
    fires: fireStore(store, settler),
    limitOwners: catalog.limitOwners,
    namespaceBook: catalog.namespaces,
    queueBook: catalog.queues,
    taskBook: catalog.tasks,
    durations: catalog.durations,
    rank: catalog.rank,
    settler,
  };
}
