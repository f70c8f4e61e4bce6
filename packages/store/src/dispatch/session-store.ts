import type { Abilities, Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

export interface NewSession extends WorkerSkills {
  readonly id: string;
  readonly namespaceId: number;
  readonly name: string;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** The namespaces whose runs it executes, * for all; absent: its own. */
  readonly namespaces?: readonly string[];
  /** The node that contains an in-process worker; null for a remote worker. */
  readonly nodeId: string | null;
  /** The gateway that claims for it. */
  readonly gatewayId: string;
}

export interface WatchedSession {
  readonly id: string;
  /** The database's text, since the comparison needs the microseconds. */
  readonly heartbeat: string;
}

/** The registration of a worker, and the state that an operator requested since. */
export type RegisteredSession = Omit<NewSession, "id" | "nodeId" | "gatewayId"> & { readonly state: WorkerState };

/** Sessions with equal registrations. */
export interface SessionKind extends Pick<NewSession, "queues" | keyof WorkerSkills> {
  readonly state: WorkerState;
  readonly count: number;
  /** The sum of their slots. */
  readonly slots: number;
}

/** A session that was ended because its worker or its node is gone. */
export type DeadSession = Pick<NewSession, "id" | "namespaceId" | "name">;

/** A live session, and the state that an operator requested of its worker. */
export interface LivingSession {
  readonly id: string;
  readonly state: WorkerState;
}

export interface SessionStore {
  open(session: NewSession): Promise<void>;
  /** Makes this gateway the only one that claims for the session; null: it never registered, or was declared dead. */
  adopt(id: string, gatewayId: string): Promise<RegisteredSession | null>;
  /** Returns the sessions that still exist and that the gateway serves. */
  heartbeat(ids: readonly string[], gatewayId: string): Promise<LivingSession[]>;
  /** Null: there is no such session. */
  namespaceOf(id: string): Promise<number | null>;
  /** Writes a heartbeat of a worker that any gateway serves; false: it was declared dead. */
  touch(id: string): Promise<boolean>;
  list(): Promise<WatchedSession[]>;
  expire(seen: readonly WatchedSession[]): Promise<DeadSession[]>;
  /** The workers of a namespace, newest first, or the one with the id. */
  views(namespaceId: number, of: { id?: string; before?: string; limit: number }): Promise<WorkerView[]>;
  /** The kinds of the sessions that have the task. */
  kinds(namespaceId: number, task: string): Promise<SessionKind[]>;
  /** The tasks that active workers serve, by name; a bounded number. */
  servedTasks(namespaceId: number): Promise<string[]>;
  /** False: there is no such worker. */
  ask(namespaceId: number, id: string, state: WorkerState): Promise<boolean>;
  close(id: string): Promise<boolean>;
  closeOfDeadNodes(): Promise<DeadSession[]>;
}

/** A namespace with more tasks gets hints at the first of them only. */
const maxServedTasks = 1_000;

export function sessionStore(db: Queryable, statements: Statements): SessionStore {
  const open = statements.get("session.open");
  const adopt = statements.get("session.adopt");
  const heartbeat = statements.get("session.heartbeat");
  const touch = statements.get("session.touch");
  const namespaceOf = statements.get("session.namespace");
  const list = statements.get("session.list");
  const expire = statements.get("session.expire");
  const views = statements.get("session.views");
  const kinds = statements.get("session.kinds");
  const servedTasks = statements.get("session.served_tasks");
  const ask = statements.get("session.request_state");
  const close = statements.get("session.close");
  const closeOfDeadNodes = statements.get("session.close_of_dead_nodes");
  return {
    async open(session) {
      const { id, namespaceId, name, queues, tasks, slots, nodeId, gatewayId } = session;
      const { labels = {}, versions = {}, weights = {}, isSpot = false, namespaces } = session;
      const skills = {
        labels: JSON.stringify(labels),
        versions: JSON.stringify(versions),
        weights: JSON.stringify(weights),
        isSpot,
      };
      const own = { id, namespaceId, name, queues, tasks, slots, nodeId, gatewayId, namespaces: namespaces ?? null };
      await db.query(open, open.values({ ...own, ...skills }));
    },
    async adopt(id, gatewayId) {
      type Row = Omit<RegisteredSession, "namespaceId" | "isSpot" | "namespaces"> & {
        namespace_id: number;
        is_spot: boolean;
        namespaces: readonly string[] | null;
      };
      const [row] = (await db.query<Row>(adopt, adopt.values({ id, gatewayId }))).rows;
      if (row === undefined) return null;
      const { namespace_id: namespaceId, is_spot: isSpot, namespaces, ...rest } = row;
      return { namespaceId, isSpot, ...rest, ...(namespaces !== null && { namespaces }) };
    },
    async heartbeat(ids, gatewayId) {
      return (await db.query<LivingSession>(heartbeat, heartbeat.values({ ids, gatewayId }))).rows;
    },
    async namespaceOf(id) {
      const { rows } = await db.query<{ namespace_id: number }>(namespaceOf, namespaceOf.values({ id }));
      return rows[0]?.namespace_id ?? null;
    },
    async touch(id) {
      return (await db.query(touch, touch.values({ id }))).rowCount === 1;
    },
    async list() {
      return (await db.query<WatchedSession>(list)).rows;
    },
    async expire(seen) {
      const heartbeats = seen.map((session) => session.heartbeat);
      const values = expire.values({ ids: seen.map((session) => session.id), heartbeats });
      return (await db.query<DeadSession>(expire, values)).rows;
    },
    async views(namespaceId, { id = null, before = null, limit }) {
      const { rows } = await db.query<ViewRow>(views, views.values({ namespaceId, id, before, limit }));
      return rows.map(toView);
    },
    async kinds(namespaceId, task) {
      type Row = Omit<SessionKind, "isSpot"> & { is_spot: boolean };
      const { rows } = await db.query<Row>(kinds, kinds.values({ namespaceId, task }));
      return rows.map(({ is_spot: isSpot, ...row }) => ({ ...row, isSpot }));
    },
    async servedTasks(namespaceId) {
      const values = servedTasks.values({ namespaceId, limit: maxServedTasks });
      return (await db.query<{ task: string }>(servedTasks, values)).rows.map(({ task }) => task);
    },
    async ask(namespaceId, id, state) {
      return (await db.query(ask, ask.values({ namespaceId, id, state }))).rowCount === 1;
    },
    async close(id) {
      return (await db.query(close, close.values({ id }))).rowCount === 1;
    },
    async closeOfDeadNodes() {
      return (await db.query<DeadSession>(closeOfDeadNodes)).rows;
    },
  };
}

type ViewRow = Omit<WorkerView, "isInProcess" | "startedAt" | "heartbeatAt" | "isSpot"> & {
  readonly is_spot: boolean;
  readonly in_process: boolean;
  readonly started_at: Instant;
  readonly heartbeat_at: Instant;
};

function toView({
  in_process: isInProcess,
  is_spot: isSpot,
  started_at: startedAt,
  heartbeat_at: heartbeatAt,
  ...row
}: ViewRow): WorkerView {
  return { ...row, isSpot, isInProcess, startedAt, heartbeatAt };
}

/** The state that an operator requested. cordoned: the worker is assigned nothing more; draining: it also has to end; leaving: at once. */
export type WorkerState = "active" | "cordoned" | "draining" | "leaving";

/** The registration of a worker, beside its queues and tasks. */
export interface WorkerSkills extends Abilities {
  /** By task, how many slots a run of it takes; 1 for those that are not named. */
  readonly weights?: Readonly<Record<string, number>>;
}

export interface WorkerView extends Required<WorkerSkills> {
  readonly id: string;
  readonly name: string;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  readonly state: WorkerState;
  /** It lives inside a node. */
  readonly isInProcess: boolean;
  readonly startedAt: Instant;
  readonly heartbeatAt: Instant;
}
