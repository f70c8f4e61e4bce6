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
      const ofRuns = await finished.names(namespaceId, page);
      return (await db.query<TaskView>(tasks, [namespaceId, after, limit, only, ofRuns])).rows;
    },
    nodes: async () => (await db.query<NodeView>(nodes)).rows,
    shards: async () => (await db.query<ShardView>(shards)).rows,
  };
}

/** A task as it is known: from workers that serve it, jobs that name it, runs that had it. */
export interface TaskView {
  readonly name: string;
  /** That are given runs of it. */
  readonly workers: number;
  readonly slots: number;
  /** From which they take it; * alone stands for every queue. */
  readonly queues: readonly string[];
  readonly hasJobs: boolean;
  /** How long a run takes, where a queue is ordered by it. */
  readonly expectedMs: DurationMs | null;
  /** Taken where a request for a run or a job leaves them out; null: no worker said anything. */
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
}

export interface ShardView {
  readonly id: number;
  /** The node; null: nobody has it just now. */
  readonly owner: string | null;
  /** Grows whenever it changes hands. */
  readonly epoch: number;
}
