import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface NewSession {
  readonly id: string;
  readonly namespaceId: number;
  readonly name: string;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** The node an in-process worker lives and dies with; null for a worker of its own. */
  readonly nodeId: string | null;
}

export interface WatchedSession {
  readonly id: string;
  /** Microseconds matter in a comparison, so the heartbeat stays the text that the database gave. */
  readonly heartbeat: string;
}

export interface SessionStore {
  open(session: NewSession): Promise<void>;
  /** Answers the sessions that still exist. */
  heartbeat(ids: readonly string[]): Promise<string[]>;
  list(): Promise<WatchedSession[]>;
  expire(seen: readonly WatchedSession[]): Promise<string[]>;
  close(id: string): Promise<boolean>;
  closeOfDeadNodes(): Promise<number>;
}

export function sessionStore(db: Queryable, statements: Statements): SessionStore {
  const open = statements.get("session.open");
  const heartbeat = statements.get("session.heartbeat");
  const list = statements.get("session.list");
  const expire = statements.get("session.expire");
  const close = statements.get("session.close");
  const closeOfDeadNodes = statements.get("session.close_of_dead_nodes");
  return {
    async open(session) {
      const { id, namespaceId, name, queues, tasks, slots, nodeId } = session;
      await db.query(open, [id, namespaceId, name, queues, tasks, slots, nodeId]);
    },
    async heartbeat(ids) {
      return (await db.query<{ id: string }>(heartbeat, [ids])).rows.map((row) => row.id);
    },
    async list() {
      return (await db.query<WatchedSession>(list)).rows;
    },
    async expire(seen) {
      const values = [seen.map((session) => session.id), seen.map((session) => session.heartbeat)];
      return (await db.query<{ id: string }>(expire, values)).rows.map((row) => row.id);
    },
    async close(id) {
      return (await db.query(close, [id])).rowCount === 1;
    },
    async closeOfDeadNodes() {
      return (await db.query(closeOfDeadNodes)).rowCount;
    },
  };
}
