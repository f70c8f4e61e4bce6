import type { DurationMs, Instant, OrderKind, QueueOrder } from "@carillon/core";
import type { Database } from "../db/database.js";
import { jsonParam, namedColumns, timestampOrNull } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { changeOwnLimits } from "../limits/limit-owners.js";
import type { Statements } from "../sql/statements.js";
import type { OwnLimits } from "../limits/limit-rows.js";

export interface QueueName {
  readonly namespaceId: number;
  readonly name: string;
}

/** A queue as nodes cache it. */
export interface KnownQueue extends QueueName {
  readonly order: QueueOrder;
  readonly isPaused: boolean;
  readonly revision: number;
}

/** The new state of a queue. */
export interface NewQueueState {
  readonly order: QueueOrder;
  readonly pause: QueuePause | null;
  readonly limits: OwnLimits | null;
}

export interface QueueStore {
  newer(revision: number): Promise<KnownQueue[]>;
  /** Creates those that do not exist. */
  ensure(queues: readonly QueueName[]): Promise<KnownQueue[]>;
  find(namespaceId: number, name: string): Promise<QueueView | null>;
  list(namespaceId: number, after: string | null, limit: number): Promise<QueueView[]>;
  /** `decide` gets the present queue, null if there is none, and returns its new state; "same" leaves a queue as it is. */
  change(queue: QueueName, decide: (before: QueueView | null) => NewQueueState | "same"): Promise<QueueView>;
  /** Of queues of a namespace, by name. */
  stats(namespaceId: number, names: readonly string[], maxOfLane: number): Promise<Map<string, QueueStats>>;
  /** Ends pauses whose time is over; returns how many. */
  resumeExpired(): Promise<number>;
  durations(): Promise<ExpectedDuration[]>;
  learn(durations: readonly ExpectedDuration[]): Promise<void>;
}

interface KnownRow {
  namespace_id: number;
  name: string;
  order_kind: OrderKind;
  bound_ms: number | null;
  pause: QueuePause | null;
  revision: number;
}

interface QueueRow extends KnownRow {
  limits: OwnLimits | null;
  version: number;
  created_at: Instant;
  updated_at: Instant;
}

export function queueStore(db: Database, statements: Statements): QueueStore {
  const [newer, ensure] = [statements.get("queue.newer"), statements.get("queue.ensure")];
  const [find, list] = [statements.get("queue.find"), statements.get("queue.list")];
  const [readForChange, lock] = [statements.get("queue.read_for_change"), statements.get("queue.lock")];
  const store = statements.get("queue.store");
  const [durations, storeDurations] = [statements.get("queue.durations"), statements.get("queue.store_durations")];
  const resumeExpired = statements.get("queue.resume_expired");
  const changeLimits = changeOwnLimits(statements);
  const stats = queueStats(db, statements);
  return {
    stats,
    resumeExpired: async () => (await db.query(resumeExpired)).rowCount,
    newer: async (revision) => (await db.query<KnownRow>(newer, newer.values({ revision }))).rows.map(toKnown),
    async ensure(queues) {
      const names = namedColumns(queues, { namespaceIds: (queue) => queue.namespaceId, names: (queue) => queue.name });
      return (await db.query<KnownRow>(ensure, ensure.values(names))).rows.map(toKnown);
    },
    async find(namespaceId, name) {
      const [row] = (await db.query<QueueRow>(find, find.values({ namespaceId, name }))).rows;
      return row === undefined ? null : toView(row);
    },
    list: async (namespaceId, after, limit) =>
      (await db.query<QueueRow>(list, list.values({ namespaceId, after, limit }))).rows.map(toView),
    change: ({ namespaceId, name }, decide) =>
      db.transaction(async (tx) => {
        const found = await tx.query<QueueRow>(readForChange, readForChange.values({ namespaceId, name }));
        const [before] = found.rows;
        const view = before === undefined ? null : toView(before);
        const state = decide(view);
        if (state === "same") {
          if (view === null) throw new Error(`The queue ${name} does not exist and cannot stay the same.`);
          return view;
        }
        const { order, pause, limits } = state;
        const values = store.values({
          namespaceId,
          name,
          orderKind: order.kind,
          boundMs: order.boundMs ?? null,
          pause: pause === null ? null : jsonParam(pause),
          limits: limits === null ? null : jsonParam(limits),
          pausedUntil: timestampOrNull(pause?.until ?? null),
        });
        const write = async (): Promise<QueueRow | undefined> => (await tx.query<QueueRow>(store, values)).rows[0];
        const made = before === undefined ? await write() : undefined;
        await changeLimits(tx, { namespaceId, queue: name }, { before: before?.limits ?? null, after: limits });
        // Admissions read the pause too: those under way end first.
        await tx.query(lock, lock.values({ namespaceId, name }));
        const after = made ?? (await write());
        if (after === undefined) throw new Error(`The statement that stores the queue ${name} returned no row.`);
        return toView(after);
      }),
    async durations() {
      type Row = { namespace_id: number; queue: string; task: string; expected_ms: DurationMs };
      const { rows } = await db.query<Row>(durations);
      return rows.map((row) => {
        const { namespace_id: namespaceId, queue, task, expected_ms: expectedMs } = row;
        return { namespaceId, queue, task, expectedMs };
      });
    },
    async learn(found) {
      const ofTasks = namedColumns(found, {
        namespaceIds: (one) => one.namespaceId,
        queues: (one) => one.queue,
        tasks: (one) => one.task,
        expectedMs: (one) => one.expectedMs,
      });
      await db.query(storeDurations, storeDurations.values(ofTasks));
    },
  };
}

function queueStats(db: Queryable, statements: Statements): QueueStore["stats"] {
  const stats = statements.get("queue.stats");
  interface Row {
    name: string;
    queued: number;
    running: number;
    oldest_due_at: Instant | null;
    workers: number;
    slots: number;
    now: Instant;
  }
  const toStats = (
    { queued, running, oldest_due_at: oldestDueAt, workers, slots, now }: Row,
    maxRuns: number,
  ): QueueStats => {
    const waitMs = oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt);
    return { queued, running, oldestDueAt, waitMs, workers, slots, isExact: queued + running < maxRuns };
  };
  return async (namespaceId, names, maxOfLane) => {
    if (names.length === 0) return new Map();
    const { rows } = await db.query<Row>(stats, stats.values({ namespaceId, names, maxOfLane }));
    return new Map(rows.map((row) => [row.name, toStats(row, maxOfLane)]));
  };
}

function orderOf({ order_kind: kind, bound_ms: boundMs }: KnownRow): QueueOrder {
  return boundMs === null ? { kind } : { kind, boundMs };
}

function toKnown(row: KnownRow): KnownQueue {
  const { namespace_id: namespaceId, name, pause, revision } = row;
  return { namespaceId, name, order: orderOf(row), isPaused: pause !== null, revision };
}

function toView(row: QueueRow): QueueView {
  const { name, pause, limits, version, created_at: createdAt, updated_at: updatedAt } = row;
  return { name, order: orderOf(row), pause, limits, version, createdAt, updatedAt };
}

export interface QueuePause {
  readonly reason: string | null;
  /** null: the caller is not known. */
  readonly actor: string | null;
  readonly at: Instant;
  /** It ends by itself then; absent or null: it does not. */
  readonly until?: Instant | null;
}

/** At most so many runs of the queue at a time, and so many starts in any window. */
export interface QueueLimits {
  readonly concurrency?: { readonly limit: number };
  readonly rateLimit?: { readonly limit: number; readonly perMs: DurationMs; readonly burst?: number };
}

export interface QueueView {
  readonly name: string;
  readonly order: QueueOrder;
  readonly pause: QueuePause | null;
  /** null: none of its own. */
  readonly limits: QueueLimits | null;
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The waiting and running runs of a queue; counts stop at a limit. */
export interface QueueStats {
  readonly queued: number;
  readonly running: number;
  /** When the run that waits longest became due; null if none waits. */
  readonly oldestDueAt: Instant | null;
  readonly waitMs: DurationMs;
  /** Workers that serve the queue, and their slots together. */
  readonly workers: number;
  readonly slots: number;
  /** False: there are more than were counted. */
  readonly isExact: boolean;
}

export interface ExpectedDuration extends TaskOfQueue {
  readonly expectedMs: DurationMs;
}

export interface TaskOfQueue {
  readonly namespaceId: number;
  readonly queue: string;
  readonly task: string;
}
