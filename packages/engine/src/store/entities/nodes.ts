import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  /** Microseconds matter in a comparison, so the heartbeat stays the text that the database gave. */
  readonly heartbeat: string;
}

export interface NodeStore {
  register(node: { id: string; name: string; address: string | null; version: string }): Promise<void>;
  /** false: others declared this node dead; it must stop acting. */
  heartbeat(id: string, skewMs: number): Promise<boolean>;
  list(): Promise<NodeRow[]>;
  /** With `seen` the node is removed only while its heartbeat is still that one. */
  remove(id: string, seen: string | null): Promise<boolean>;
}

export function nodeStore(db: Queryable, statements: Statements): NodeStore {
  const register = statements.get("node.register");
  const heartbeat = statements.get("node.heartbeat");
  const list = statements.get("node.list");
  const remove = statements.get("node.remove");
  return {
    async register(node) {
      await db.query(register, [node.id, node.name, node.address, node.version]);
    },
    async heartbeat(id, skewMs) {
      return (await db.query(heartbeat, [id, Math.round(skewMs)])).rowCount === 1;
    },
    async list() {
      return (await db.query<NodeRow>(list)).rows;
    },
    async remove(id, seen) {
      return (await db.query(remove, [id, seen])).rowCount === 1;
    },
  };
}
