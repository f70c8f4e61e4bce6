import type { Instant, MaintenanceWindow } from "@carillon/core";
import type { Database } from "../db/database.js";
import { jsonParam } from "../db/params.js";
import type { Statements } from "../sql/statement.js";
import { growRevisions } from "../catalog/revisions.js";

/** Maintenance windows as their users write them; `windows.ts` has them as the scheduler reads them. */
export interface WindowStore {
  find(namespaceId: number, name: string): Promise<WindowView | null>;
  list(namespaceId: number, after: string | null, limit: number): Promise<WindowView[]>;
  put(namespaceId: number, window: MaintenanceWindow): Promise<{ window: WindowView; created: boolean }>;
  /** False when there is none. */
  delete(namespaceId: number, name: string): Promise<boolean>;
}

interface WindowRow {
  name: string;
  definition: Omit<MaintenanceWindow, "name">;
  created_at: Instant;
  updated_at: Instant;
}

export function windowStore(db: Database, statements: Statements): WindowStore {
  const find = statements.get("window.find");
  const list = statements.get("window.list");
  const put = statements.get("window.put");
  const remove = statements.get("window.delete");
  const grow = growRevisions(statements);
  return {
    async find(namespaceId, name) {
      const [row] = (await db.query<WindowRow>(find, [namespaceId, name])).rows;
      return row === undefined ? null : toView(row);
    },
    async list(namespaceId, after, limit) {
      return (await db.query<WindowRow>(list, [namespaceId, after, limit])).rows.map(toView);
    },
    put: (namespaceId, { name, ...definition }) =>
      db.transaction(async (tx) => {
        type Row = WindowRow & { created: boolean };
        const [row] = (await tx.query<Row>(put, [namespaceId, name, jsonParam(definition)])).rows;
        if (row === undefined) throw new Error(`the window ${name} was stored and not answered`);
        await grow(tx, ["windows"]);
        return { window: toView(row), created: row.created };
      }),
    delete: (namespaceId, name) =>
      db.transaction(async (tx) => {
        const isGone = (await tx.query(remove, [namespaceId, name])).rowCount > 0;
        if (isGone) await grow(tx, ["windows"]);
        return isGone;
      }),
  };
}

function toView({ name, definition, created_at, updated_at }: WindowRow): WindowView {
  return { window: { ...definition, name }, createdAt: created_at, updatedAt: updated_at };
}

export interface WindowView {
  readonly window: MaintenanceWindow;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}
