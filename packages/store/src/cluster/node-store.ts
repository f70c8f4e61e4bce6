import type { Queryable } from "../db/queryable.js";
import type { Statement, Statements } from "../sql/statements.js";

export interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  /** Microseconds matter in a comparison, so the heartbeat stays the text of the database. */
  readonly heartbeat: string;
  /** false: its clock is off, so it takes no shards. */
  readonly takesShards: boolean;
  /** Whether a session holds the lock of this incarnation now. */
  readonly locked: boolean;
  /** When the server started: a new value means that all locks were lost. */
  readonly serverStart: string;
}

/** The values that a node reports with each heartbeat. */
export interface NodeReport {
  readonly skewMs: number;
  readonly takesShards: boolean;
}

export interface NodeStore {
  register(node: { id: string; name: string; address: string | null; version: string }): Promise<void>;
  /** false: another node declared this one dead; it must stop acting. */
  heartbeat(id: string, report: NodeReport): Promise<boolean>;
  list(): Promise<NodeRow[]>;
  /** With `seen` the node is removed only if that is still its heartbeat. */
  remove(id: string, seen: string | null): Promise<boolean>;
}

export function nodeStore(db: Queryable, statements: Statements): NodeStore {
  const register = statements.get("node.register");
  const heartbeat = statements.get("node.heartbeat");
  const list = statements.get("node.list");
  const remove = statements.get("node.remove");
  return {
    async register(node) {
      await db.query(register, register.values(node));
    },
    async heartbeat(id, report) {
      const values = heartbeat.values({ id, skewMs: Math.round(report.skewMs), takesShards: report.takesShards });
      return (await db.query(heartbeat, values)).rowCount === 1;
    },
    async list() {
      return (await db.query<NodeRow>(list)).rows;
    },
    async remove(id, seen) {
      return (await db.query(remove, remove.values({ id, seen }))).rowCount === 1;
    },
  };
}

/** The statements that hold and end the lock of an incarnation; they need a lasting session. */
export interface NodeLockStatements {
  readonly lock: Statement;
  readonly unlock: Statement;
}

export function nodeLockStatements(statements: Statements): NodeLockStatements {
  return { lock: statements.get("node.lock"), unlock: statements.get("node.unlock") };
}
