import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface NamespaceStore {
  /** null when there is none of that name. */
  find(name: string): Promise<number | null>;
  list(): Promise<{ id: number; name: string }[]>;
}

/** Namespaces are few and never renumbered, so a name that was found once is remembered. */
export function namespaceStore(db: Queryable, statements: Statements): NamespaceStore {
  const known = new Map<string, number>();
  /** Callers that come together ask once. */
  const asked = new Map<string, Promise<number | null>>();
  const find = statements.get("namespace.find");
  const list = statements.get("namespace.list");
  async function ask(name: string): Promise<number | null> {
    try {
      const { rows } = await db.query<{ id: number }>(find, [name]);
      const id = rows[0]?.id ?? null;
      if (id !== null) known.set(name, id);
      return id;
    } finally {
      asked.delete(name);
    }
  }
  return {
    async find(name) {
      const seen = known.get(name);
      if (seen !== undefined) return seen;
      const answer = asked.get(name) ?? ask(name);
      asked.set(name, answer);
      return answer;
    },
    async list() {
      const { rows } = await db.query<{ id: number; name: string }>(list);
      for (const row of rows) known.set(row.name, row.id);
      return rows;
    },
  };
}
