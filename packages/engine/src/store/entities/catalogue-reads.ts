import type { NodeView, ShardView, TaskView } from "../../model/catalogue.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface TaskPage {
  readonly after?: string;
  readonly limit: number;
  readonly only?: string;
}

export interface CatalogueReads {
  tasks(namespaceId: number, page: TaskPage): Promise<TaskView[]>;
  nodes(): Promise<NodeView[]>;
  shards(): Promise<ShardView[]>;
}

export function catalogueReads(db: Queryable, statements: Statements): CatalogueReads {
  const [tasks, nodes] = [statements.get("catalogue.tasks"), statements.get("catalogue.nodes")];
  const shards = statements.get("catalogue.shards");
  return {
    tasks: async (namespaceId, { after = null, limit, only = null }) =>
      (await db.query<TaskView>(tasks, [namespaceId, after, limit, only])).rows,
    nodes: async () => (await db.query<NodeView>(nodes)).rows,
    shards: async () => (await db.query<ShardView>(shards)).rows,
  };
}
