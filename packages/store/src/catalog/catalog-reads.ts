import type { DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import { FinishedTasks, type TaskPage } from "../history/finished-search.js";
import type { HistoryDays } from "../history/history-days.js";
import type { Statements } from "../sql/statements.js";
import type { TaskDefaults } from "./task-store.js";

export interface CatalogueReads {
  tasks(namespaceId: number, page: TaskPage): Promise<TaskView[]>;
  nodes(): Promise<NodeView[]>;
  shards(): Promise<ShardView[]>;
}

export function catalogueReads(db: Queryable, statements: Statements, days: HistoryDays): CatalogueReads {
  const finished = new FinishedTasks(db, statements, days);
  const [tasks, nodes] = [statements.get("catalogue.tasks"), statements.get("catalogue.nodes")];
  const shards = statements.get("catalogue.shards");
  return {
    async tasks(namespaceId, page) {
      const { after = null, limit, only = null } = page;
      const finishedTasks = await finished.names(namespaceId, page);
      return (await db.query<TaskView>(tasks, tasks.values({ namespaceId, after, limit, only, finishedTasks }))).rows;
    },
    nodes: async () => (await db.query<NodeView>(nodes)).rows,
    shards: async () => (await db.query<ShardView>(shards)).rows,
  };
}

/** A task that workers serve, jobs name, or runs had. */
export interface TaskView {
  readonly name: string;
  /** Active workers that serve it. */
  readonly workers: number;
  readonly slots: number;
  /** The queues that they serve; * alone stands for every queue. */
  readonly queues: readonly string[];
  readonly hasJobs: boolean;
  /** How long a run takes, where a queue is ordered by it. */
  readonly expectedMs: DurationMs | null;
  /** Used where a request for a run or a job leaves them out; null: no worker has defaults for it. */
  readonly defaults: TaskDefaults | null;
}

export interface NodeView {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly version: string;
  readonly startedAt: Instant;
  readonly heartbeatAt: Instant;
  /** By the database's clock. */
  readonly silentMs: DurationMs;
  /** Its clock minus the database's. */
  readonly skewMs: DurationMs;
  readonly takesShards: boolean;
  readonly shards: number;
  /** The feature level that its version supports. */
  readonly level: number;
}

export interface ShardView {
  readonly id: number;
  /** The node; null: no node owns it at the moment. */
  readonly owner: string | null;
  /** Grows whenever it changes hands. */
  readonly epoch: number;
}
