import { deadlineError, type DurationMs, type Instant, named } from "@carillon/core";
import { uuidArray } from "../db/binary-arrays.js";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type Fence, fenceParameters } from "./fence.js";
import { alikeRuns } from "./alike-runs.js";
import type { EndedLate, EndedRun } from "./ended-runs.js";
import type { NewRun } from "./new-run.js";
import { columns, jsonOrNull, timestampOrNull } from "../dispatch/parameters.js";

export type { NewRun } from "./new-run.js";

/** One-off jobs due later than this from now wait in run_later: a window and ten minutes. */
export const horizonMs: DurationMs = 630_000;

export interface StoredRun {
  readonly id: string;
  /** later: scheduled, and so far from its time that it waits in run_later. */
  readonly state: "queued" | "scheduled" | "later";
  readonly createdAt: Instant;
}

export interface DueRun {
  readonly id: string;
  readonly shard: number;
  readonly runAt: Instant;
}

/** Where a run that just became claimable waits; what a hint to the gateways carries. */
export interface Queued {
  readonly id: string;
  readonly lane: number;
  readonly rank: number;
  /** Left out: in some namespace. */
  readonly namespaceId?: number;
}

/** A run that is claimable from its time on. */
export interface PromotedRun extends Queued {
  readonly runAt: Instant;
}

/** A run that nobody holds any more. */
export interface GivenBackRun extends Queued {
  /** It was to stop: nobody is to try it again. */
  readonly isStopped: boolean;
}

/** For those who listen. */
export interface Notice {
  readonly channel: string;
  readonly payload: string;
}

export interface LostRun {
  readonly id: string;
  /** Whose it was; null: it had been given back, and was to stop. */
  readonly sessionId: string | null;
}

export interface RunStore {
  /** A one-off job that is due later than `beyondMs` from now waits in run_later. */
  insert(runs: readonly NewRun[], beyondMs?: DurationMs): Promise<StoredRun[]>;
  /** Stores runs that stand alone and may start at once, whatever their `runAt` says, and tells it. Answers when: that is their time. */
  insertNow(runs: readonly NewRun[], notice: Notice | null): Promise<Instant>;
  loadDue(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  /** Queues those of the runs whose time has come, and of those that need nothing but a worker what is due within `aheadMs`. */
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
  /** Running runs whose session is gone. Reads all live runs. */
  lost(limit: number): Promise<LostRun[]>;
  /** Queues again those of the runs whose session is gone. */
  rescue(ids: readonly string[], mostLosses: number): Promise<GivenBackRun[]>;
  /** Ends those of the runs whose session is gone and that took their workers down too often. */
  buryLost(ids: readonly string[], mostLosses: number): Promise<readonly EndedLate[]>;
  /** Ends runs that wait and whose deadline has passed. */
  expire(limit: number): Promise<readonly EndedLate[]>;
  /** Ends those of the runs that were to stop and do not run. */
  endStopped(ids: readonly string[]): Promise<readonly EndedRun[]>;
}

const lostError = named({
  type: "WorkerLost",
  message: "the worker that ran it died or fell silent, as often as the policy allows",
  retryable: false,
});

export function runStore(db: Queryable, statements: Statements): RunStore {
  const insert = statements.get("run.insert");
  const insertAlike = statements.get("run.insert_alike");
  const insertNow = statements.get("run.insert_now");
  const loadDue = statements.get("run.load_due");
  const promote = statements.get("run.promote");
  const lost = statements.get("run.lost");
  const rescue = statements.get("run.rescue");
  const buryLost = statements.get("run.bury_lost");
  const expire = statements.get("run.expire");
  const endStopped = statements.get("run.end_stopped");
  return {
    async insert(runs, beyondMs = horizonMs) {
      type Row = { id: string; state: StoredRun["state"]; created_at: Instant };
      const values = [...runParameters(runs), beyondMs, runDeadlines(runs)];
      const { rows } = await db.query<Row>(insert, values);
      return rows.map((row) => ({ id: row.id, state: row.state, createdAt: row.created_at }));
    },
    async insertNow(runs, notice) {
      const { isOneKind, values } = alikeRuns(runs);
      const told = [notice?.channel ?? null, notice?.payload ?? null];
      const statement = isOneKind ? insertAlike : insertNow;
      const [row] = (await db.query<{ created_at: Instant }>(statement, [...values, ...told])).rows;
      if (row === undefined) throw new Error("runs were to be stored and no answer came");
      return row.created_at;
    },
    async loadDue(shards, until, limitPerShard) {
      type Row = { id: string; shard: number; run_at: Instant };
      const { rows } = await db.query<Row>(loadDue, [shards, timestampParam(until), limitPerShard]);
      return rows.map((row) => ({ id: row.id, shard: row.shard, runAt: row.run_at }));
    },
    async promote(fence, ids, aheadMs = 0) {
      type Row = Omit<PromotedRun, "id"> & { ids: string };
      const { rows } = await db.query<Row>(promote, [...fenceParameters(fence), uuidArray(ids), aheadMs]);
      return rows.flatMap(({ ids: queued, ...same }) => queued.split(",").map((id) => ({ id, ...same })));
    },
    async lost(limit) {
      return (await db.query<LostRun>(lost, [limit])).rows;
    },
    async rescue(ids, mostLosses) {
      const { rows } = await db.query<Queued & { stopped: boolean }>(rescue, [ids, mostLosses]);
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async buryLost(ids, mostLosses) {
      const values = [ids, mostLosses, jsonParam(lostError), lostError.fingerprint];
      return (await db.query<EndedLate>(buryLost, values)).rows;
    },
    async expire(limit) {
      const values = [limit, jsonParam(deadlineError), deadlineError.fingerprint];
      return (await db.query<EndedLate>(expire, values)).rows;
    },
    async endStopped(ids) {
      return ids.length === 0 ? [] : (await db.query<EndedRun>(endStopped, [ids])).rows;
    },
  };
}

/** The columns of new runs, in the order in which statements take them. */
export function runParameters(runs: readonly NewRun[]): unknown[] {
  return columns(runs, [
    (run) => run.id,
    (run) => run.jobId,
    (run) => run.namespaceId,
    (run) => run.shard,
    (run) => run.lane,
    (run) => run.priority,
    (run) => run.rank,
    (run) => timestampParam(run.runAt),
    (run) => timestampParam(run.nominal),
    (run) => run.trigger,
    (run) => run.task,
    (run) => run.queue,
    (run) => jsonParam(run.payload),
    (run) => jsonOrNull(run.policy),
    (run) => jsonOrNull(run.labels),
    (run) => run.owner,
  ]);
}

/** Their deadlines, which statements take last. */
export function runDeadlines(runs: readonly NewRun[]): unknown {
  return columns(runs, [(run) => timestampOrNull(run.deadline ?? null)])[0];
}
