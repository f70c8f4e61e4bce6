import { createStore, type Database, type Store } from "@carillon/store";
import { LimitOwners } from "../catalog/limit-owner-cache.js";
import { NamespaceBook } from "../catalog/namespace-cache.js";
import { QueueBook } from "../catalog/queue-cache.js";
import { type RankRun, rankRunBy } from "../catalog/rank-run.js";
import { TaskDurations } from "../catalog/task-durations.js";
import type { FireStore } from "../schedules/fire-store.js";
import { settleRows } from "../scheduler/settle-fires.js";
import { Settler } from "../jobs/transaction/settler.js";
import { TaskBook } from "../catalog/task-cache.js";

/** The store, with what this node keeps in memory of it. */
export interface EngineStore extends Store {
  readonly fires: FireStore;
  /** The queues and namespaces that have limits of their own. */
  readonly limitOwners: LimitOwners;
  readonly namespaceBook: NamespaceBook;
  readonly queueBook: QueueBook;
  /** The defaults that workers register with their tasks. */
  readonly taskBook: TaskBook;
  readonly durations: TaskDurations;
  /** By the order of the run's queue. */
  readonly rank: RankRun;
  /** Locks jobs, reads them into drafts and writes the drafts back, inside `settle`. */
  readonly settler: Settler;
}

export function createEngineStore(db: Database): EngineStore {
  const store = createStore(db);
  const queueBook = new QueueBook(store.queues);
  const durations = new TaskDurations();
  const rank = rankRunBy({
    orderOf: (namespaceId, queue) => queueBook.orderOf(namespaceId, queue),
    expectedMs: (namespaceId, queue, task) => durations.expectedMs(namespaceId, queue, task),
  });
  const settler = new Settler(store.settlementReads, store.settlementWrites, rank);
  return {
    ...store,
    fires: {
      ...store.due,
      settle: settleRows({ settler, transaction: store.settle }),
      windows: store.windowsInForce,
      loadRuns: (...args) => store.runs.loadDue(...args),
      promote: (...args) => store.runs.promote(...args),
    },
    limitOwners: new LimitOwners(store.knownLimitOwners),
    namespaceBook: new NamespaceBook(store.namespaces),
    queueBook,
    taskBook: new TaskBook(store.tasks),
    durations,
    rank,
    settler,
  };
}
