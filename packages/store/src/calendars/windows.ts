import type { MaintenanceWindow } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

interface WindowRow {
  revision: number;
  namespace_id: number | null;
  namespace: string | null;
  name: string | null;
  definition: Omit<MaintenanceWindow, "name"> | null;
}

/** The maintenance windows as the scheduler reads them. */
export function windowsInForce(db: Queryable, statements: Statements): () => Promise<WindowsInForce> {
  const inForce = statements.get("window.in_force");
  return async () => {
    const { rows } = await db.query<WindowRow>(inForce);
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
