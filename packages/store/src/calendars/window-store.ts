import type { Instant, MaintenanceWindow } from "@carillon/core";
import type { Database } from "../db/database.js";
import { jsonParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { growRevisions } from "../limits/limit-owners.js";
import type { Statements } from "../sql/statements.js";

/** Maintenance windows as callers write them. */
export interface WindowStore {
  find(namespaceId: number, name: string): Promise<WindowView | null>;
  list(namespaceId: number, after: string | null, limit: number): Promise<WindowView[]>;
  put(namespaceId: number, window: MaintenanceWindow): Promise<{ window: WindowView; created: boolean }>;
  /** false: there is none. */
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
      const [row] = (await db.query<WindowRow>(find, find.values({ namespaceId, name }))).rows;
      return row === undefined ? null : toView(row);
    },
    async list(namespaceId, after, limit) {
      return (await db.query<WindowRow>(list, list.values({ namespaceId, afterName: after, limit }))).rows.map(toView);
    },
    put: (namespaceId, { name, ...definition }) =>
      db.transaction(async (tx) => {
        type Row = WindowRow & { created: boolean };
        const values = put.values({ namespaceId, name, definition: jsonParam(definition) });
        const [row] = (await tx.query<Row>(put, values)).rows;
        if (row === undefined) throw new Error(`window.put stored the window ${name} and returned no row`);
        await grow(tx, ["windows"]);
        return { window: toView(row), created: row.created };
      }),
    delete: (namespaceId, name) =>
      db.transaction(async (tx) => {
        const isGone = (await tx.query(remove, remove.values({ namespaceId, name }))).rowCount > 0;
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

interface WindowInForceRow {
  revision: number;
  namespace_id: number | null;
  namespace: string | null;
  name: string | null;
  definition: Omit<MaintenanceWindow, "name"> | null;
}

/** The maintenance windows as the scheduler reads them. */
export function windowsInForce(db: Queryable, statements: Statements): () => Promise<WindowsInForce> {
  const inForce = statements.get("window.list_in_force");
  return async () => {
    const { rows } = await db.query<WindowInForceRow>(inForce);
    const byNamespace = new Map<number, NamespaceWindows & { readonly windows: MaintenanceWindow[] }>();
    for (const { namespace_id: id, namespace, name, definition } of rows) {
      if (id === null || name === null || definition === null) continue;
      const known = byNamespace.get(id) ?? { namespace: namespace ?? "", windows: [] };
      known.windows.push({ ...definition, name });
      byNamespace.set(id, known);
    }
    return { revision: rows[0]?.revision ?? -1, byNamespace };
  };
}

/** The maintenance windows of one namespace; `namespace` is its name. */
export interface NamespaceWindows {
  readonly namespace: string;
  readonly windows: readonly MaintenanceWindow[];
}

/** All maintenance windows, by the id of their namespace. The revision grows with every change of any. */
export interface WindowsInForce {
  readonly revision: number;
  readonly byNamespace: ReadonlyMap<number, NamespaceWindows>;
}
