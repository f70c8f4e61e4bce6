import { CarillonError } from "@carillon/core";
import type { Database } from "../db/database.js";
import { sqlStateOf } from "../db/errors.js";
import type { Queryable } from "../db/queryable.js";
import { loadStatements, type Statement, type Statements } from "../sql/statements.js";

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
  /** Throws node_too_old if the cluster uses a feature level that this node does not support. */
  register(node: NewNode): Promise<void>;
  /** false: another node declared this one dead; it must stop acting. */
  heartbeat(id: string, report: NodeReport): Promise<boolean>;
  list(): Promise<NodeRow[]>;
  /** With `seen` the node is removed only if that is still its heartbeat. */
  remove(id: string, seen: string | null): Promise<boolean>;
  level(): Promise<ClusterLevels>;
  /** Raises the level in use to the one that all nodes support; returns the level in use. */
  raiseLevel(): Promise<number>;
}

export interface NewNode {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly version: string;
  /** The feature level that its version supports. */
  readonly level: number;
}

export interface ClusterLevels {
  readonly inUse: number;
  /** By every node of the cluster. */
  readonly supported: number;
}

/** Raised by the trigger node_level. */
const levelRefused = "55000";

export function nodeStore(
  db: Queryable,
  statements: Statements,
  transactions: Pick<Database, "transaction">,
): NodeStore {
  const register = statements.get("node.register");
  const heartbeat = statements.get("node.heartbeat");
  const list = statements.get("node.list");
  const remove = statements.get("node.remove");
  const level = statements.get("node.level_in_use");
  const [lockLevel, raiseLevel] = [statements.get("node.lock_level"), statements.get("node.raise_level")];
  return {
    async register(node) {
      try {
        await db.query(register, register.values(node));
      } catch (error) {
        if (sqlStateOf(error) !== levelRefused) throw error;
        const { message, hint } = error as { readonly message: string; readonly hint?: string };
        throw new CarillonError("node_too_old", `${message} ${hint ?? ""}`.trim(), { cause: error });
      }
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
    async level() {
      const [row] = (await db.query<ClusterLevels>(level)).rows;
      return row ?? { inUse: 0, supported: 0 };
    },
    async raiseLevel() {
      const raised = await transactions.transaction(async (tx) => {
        await tx.query(lockLevel);
        return (await tx.query<{ level: number }>(raiseLevel)).rows[0]?.level;
      });
      return raised ?? (await this.level()).inUse;
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

/** The feature level in use, and the level that each node of the cluster supports. */
export async function readClusterLevel(
  db: Queryable,
  schema: string,
): Promise<{ readonly inUse: number; readonly nodes: readonly { readonly name: string; readonly level: number }[] }> {
  const statements = loadStatements(schema);
  const { rows: nodes } = await db.query<{ name: string; level: number }>(statements.get("catalogue.nodes"));
  const [row] = (await db.query<ClusterLevels>(statements.get("node.level_in_use"))).rows;
  return { inUse: row?.inUse ?? 0, nodes };
}
