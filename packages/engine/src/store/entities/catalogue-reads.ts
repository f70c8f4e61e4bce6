import type { NodeView, ShardView, TaskView } from "../../model/catalogue.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { FinishedTasks, type TaskPage } from "./finished-tasks.js";
import type { HistoryDays } from "./history-days.js";

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
