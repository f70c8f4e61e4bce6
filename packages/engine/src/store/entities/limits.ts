import type {
  DurationMs,
  Instant,
  KeyedLimit,
  LimitKind,
  LimitScope,
  OrderFailure,
  RunError,
  RunPolicy,
} from "@carillon/core";
import type { LimitChange, LimitFilter } from "../../model/limits.js";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type EndedRow, type EndedRun, type EndedRuns, toEnded } from "./ended-runs.js";
import { columns, timestampOrNull } from "./parameters.js";
import type { Queued } from "./runs.js";

/** A lane whose queued runs have limits; null: of every namespace. */
export interface LimitedLane {
  readonly lane: number;
  readonly namespaceId: number | null;
}

/** A run whose limits are not written down yet. */
export interface ArrivedRun {
  readonly id: string;
  readonly namespaceId: number;
  readonly jobId: string | null;
  readonly lane: number;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
}

export interface BlockedRun {
  readonly id: string;
  readonly limits: string;
  readonly lane: number;
}

export interface RefusedRun {
  readonly id: string;
  readonly error: RunError;
}

/** Limits of a queue or a namespace, as their rows keep them. */
export interface OwnLimits {
  readonly concurrency?: { readonly limit: number };
  readonly rateLimit?: { readonly limit: number; readonly perMs: DurationMs; readonly burst?: number };
}

/** A run behind a gate. */
export interface WaitingHead {
  readonly id: string;
  readonly namespaceId: number;
  readonly queue: string;
  readonly rank: number;
  readonly fence: number;
  readonly limits: string;
  readonly createdAt: Instant;
  readonly isPaused: boolean;
  readonly queueLimits: OwnLimits | null;
  readonly namespaceLimits: OwnLimits | null;
}

export interface NamedLimit {
  readonly namespaceId: number;
  readonly limit: KeyedLimit;
  readonly definedAt: Instant;
}

/** A limit's row. */
export interface LimitRow extends NamedLimit {
  readonly id: number;
  readonly isFixed: boolean;
  readonly used: number;
  readonly starts: readonly number[];
  readonly stoppedBy: string | null;
}

export interface ReleasedHold {
  readonly limitId: number;
  readonly runId: string;
  readonly gate: string;
  readonly hasFailed: boolean;
  /** null: it never started. */
  readonly startedAt: Instant | null;
}

export interface OrderHolder {
  readonly limitId: number;
  readonly runId: string;
  /** The run, if it waits to be admitted again. */
  readonly head: WaitingHead | null;
}

export interface NewHold {
  readonly limitId: number;
  readonly runId: string;
  readonly fence: number;
  readonly gate: string;
}

export interface Admission {
  readonly runs: readonly { readonly id: string; readonly fence: number }[];
  readonly holds: readonly NewHold[];
  /** `used` without the new holds. */
  readonly limits: readonly LimitRow[];
  /** Every hold was looked at. */
  readonly isSwept: boolean;
}

/** What admission asks of the store. Each call with a transaction needs the limits locked by it, except those before `lock`. */
export interface LimitStore {
  intake(tx: Queryable, lanes: readonly LimitedLane[], mostOfEach: number): Promise<ArrivedRun[]>;
  block(tx: Queryable, runs: readonly BlockedRun[]): Promise<void>;
  refuse(tx: Queryable, runs: readonly RefusedRun[]): Promise<EndedRuns>;
  gates(after: string, limit: number): Promise<string[]>;
  heads(tx: Queryable, gates: readonly string[], mostOfEach: number): Promise<WaitingHead[]>;
  define(tx: Queryable, limits: readonly NamedLimit[]): Promise<void>;
  lock(
    tx: Queryable,
    limits: readonly NamedLimit[],
    ids: readonly number[],
  ): Promise<{ rows: LimitRow[]; now: Instant }>;
  disposed(tx: Queryable, runIds: readonly string[]): Promise<Set<string>>;
  /** null: of all runs. */
  release(tx: Queryable, limitIds: readonly number[], runIds: readonly string[] | null): Promise<ReleasedHold[]>;
  holders(tx: Queryable, limitIds: readonly number[]): Promise<OrderHolder[]>;
  admit(tx: Queryable, admission: Admission): Promise<Queued[]>;
  stop(tx: Queryable, gates: readonly string[]): Promise<readonly EndedRun[]>;
  ofRuns(runIds: readonly string[], onlyRates: boolean): Promise<{ limitId: number; gate: string }[]>;
  unswept(afterMs: DurationMs, limit: number): Promise<number[]>;
  forget(afterMs: DurationMs, limit: number): Promise<number>;
  list(namespaceId: number, page: LimitFilter & { after: number; limit: number }): Promise<LimitRow[]>;
  waiting(namespaceId: number, most: number): Promise<WaitingGroup[]>;
  fix(namespaceId: number, id: number, change: LimitChange & { readonly resumes?: boolean }): Promise<LimitRow[]>;
  /** null: the run does not wait for a limit. */
  ofRun(namespaceId: number, runId: string, most: number): Promise<RunWaits | null>;
  named(namespaceId: number, limits: readonly KeyedLimit[]): Promise<LimitRow[]>;
}

/** Runs that wait for the same. */
export interface WaitingGroup {
  readonly limits: string;
  readonly queue: string;
  readonly count: number;
  readonly oldestAt: Instant;
}

export interface RunWaits {
  readonly limits: string;
  readonly queue: string;
  readonly queueLimits: OwnLimits | null;
  readonly namespaceLimits: OwnLimits | null;
  readonly position: number;
}

interface HeadRow {
  id: string;
  namespace_id: number;
  queue: string;
  rank: number;
  fence: number;
  limits: string;
  created_at: Instant;
  is_paused: boolean;
  queue_limits: OwnLimits | null;
  namespace_limits: OwnLimits | null;
}

interface KeyRow {
  id: number;
  namespace_id: number;
  scope: LimitScope;
  kind: LimitKind;
  name: string;
  most: number;
  per_ms: number | null;
  burst: number | null;
  on_failure: OrderFailure | null;
  is_fixed: boolean;
  defined_at: Instant;
  used: number;
  starts: number[];
  stopped_by: string | null;
}

export function limitStore(db: Queryable, statements: Statements): LimitStore {
  return { ...admissionStore(db, statements), ...limitReads(db, statements) };
}

type LimitReads = Pick<LimitStore, "list" | "waiting" | "fix" | "ofRun" | "named">;

/** What operators see of limits, and change. */
function limitReads(db: Queryable, statements: Statements): LimitReads {
  const [list, waiting, fix] = [
    statements.get("limit.list"),
    statements.get("limit.waiting"),
    statements.get("limit.fix"),
  ];
  const [ofRun, named] = [statements.get("limit.of_run"), statements.get("limit.named")];
  return {
    async list(namespaceId, { after, limit, scope = null, kind = null, key = null }) {
      return (await db.query<KeyRow>(list, [namespaceId, after, limit, scope, kind, key])).rows.map(toLimit);
    },
    async waiting(namespaceId, most) {
      type Row = { limits: string; queue: string; count: number; oldest_at: Instant };
      const { rows } = await db.query<Row>(waiting, [namespaceId, most]);
      return rows.map(({ oldest_at: oldestAt, ...row }) => ({ ...row, oldestAt }));
    },
    async fix(namespaceId, id, { limit = null, perMs = null, burst = null, isFixed = null, resumes = false }) {
      return (await db.query<KeyRow>(fix, [namespaceId, id, limit, perMs, burst, isFixed, resumes])).rows.map(toLimit);
    },
    async ofRun(namespaceId, runId, most) {
      type Row = Pick<HeadRow, "limits" | "queue" | "queue_limits" | "namespace_limits"> & { position: number };
      const [row] = (await db.query<Row>(ofRun, [namespaceId, runId, most])).rows;
      if (row === undefined) return null;
      const { limits, queue, position } = row;
      return { limits, queue, position, queueLimits: row.queue_limits, namespaceLimits: row.namespace_limits };
    },
    async named(namespaceId, limits) {
      const values = columns(limits, [(limit) => limit.scope, (limit) => limit.kind, (limit) => limit.name]);
      return (await db.query<KeyRow>(named, [namespaceId, ...values])).rows.map(toLimit);
    },
  };
}

function admissionStore(db: Queryable, statements: Statements): Omit<LimitStore, keyof LimitReads> {
  const statement = (name: string) => statements.get(`limit.${name}`);
  const [intake, block, refuse] = [statement("intake"), statement("block"), statement("refuse")];
  const [gates, heads, define, lock] = [statement("gates"), statement("heads"), statement("define"), statement("lock")];
  const [disposed, release, holders] = [statement("disposed"), statement("release"), statement("holders")];
  const [admit, stop, ofRuns] = [statement("admit"), statement("stop"), statement("of_runs")];
  const [unswept, forget] = [statement("unswept"), statement("forget")];
  return {
    async intake(tx, lanes, mostOfEach) {
      type Row = Omit<ArrivedRun, "namespaceId" | "jobId" | "policy"> & {
        namespace_id: number;
        job_id: string | null;
        policy: RunPolicy | null;
      };
      const values = [...columns(lanes, [(one) => one.lane, (one) => one.namespaceId]), mostOfEach];
      return (await tx.query<Row>(intake, values)).rows.map((row) => {
        const { id, lane, task, queue, payload, namespace_id: namespaceId, job_id: jobId, policy } = row;
        return { id, namespaceId, jobId, lane, task, queue, payload, policy: policy ?? {} };
      });
    },
    async block(tx, runs) {
      if (runs.length === 0) return;
      const values = columns(runs, [(run) => run.id, (run) => run.limits, (run) => run.lane]);
      const { rowCount } = await tx.query(block, values);
      if (rowCount !== runs.length)
        throw new Error(`limit.block changed ${rowCount} of ${runs.length} rows that this transaction holds`);
    },
    async refuse(tx, runs) {
      if (runs.length === 0) return new Map();
      const values = columns(runs, [
        (run) => run.id,
        (run) => jsonParam(run.error),
        (run) => run.error.fingerprint ?? null,
      ]);
      return toEnded((await tx.query<EndedRow>(refuse, values)).rows);
    },
    gates: async (after, limit) =>
      (await db.query<{ gate: string }>(gates, [after, limit])).rows.map((row) => row.gate),
    heads: async (tx, of, mostOfEach) => (await tx.query<HeadRow>(heads, [of, mostOfEach])).rows.map(toHead),
    async define(tx, limits) {
      if (limits.length === 0) return;
      const values = columns(limits, [
        ...nameColumns,
        ({ limit }) => limit.limit,
        ({ limit }) => limit.perMs,
        ({ limit }) => limit.burst,
        ({ limit }) => limit.onFailure,
        ({ definedAt }) => timestampParam(definedAt),
      ]);
      await tx.query(define, values);
    },
    async lock(tx, limits, ids) {
      const { rows } = await tx.query<KeyRow & { now_ms: number }>(lock, [...columns(limits, nameColumns), ids]);
      // Read before the locks were had, so too early rather than too late: a window then holds more, never less.
      return { rows: rows.map(toLimit), now: rows[0]?.now_ms ?? 0 };
    },
    async disposed(tx, runIds) {
      if (runIds.length === 0) return new Set();
      return new Set((await tx.query<{ run_id: string }>(disposed, [runIds])).rows.map((row) => row.run_id));
    },
    async release(tx, limitIds, runIds) {
      type Row = {
        limit_id: number;
        run_id: string;
        gate: string;
        has_failed: boolean | null;
        started_ms: number | null;
      };
      return (await tx.query<Row>(release, [limitIds, runIds])).rows.map((row) => ({
        limitId: row.limit_id,
        runId: row.run_id,
        gate: row.gate,
        hasFailed: row.has_failed === true,
        startedAt: row.started_ms,
      }));
    },
    async holders(tx, limitIds) {
      if (limitIds.length === 0) return [];
      type Row = HeadRow & { limit_id: number; run_id: string; waits: boolean };
      return (await tx.query<Row>(holders, [limitIds])).rows.map((row) => {
        return { limitId: row.limit_id, runId: row.run_id, head: row.waits ? toHead(row) : null };
      });
    },
    admit: async (tx, admission) => (await tx.query<Queued>(admit, admissionParameters(admission))).rows,
    async stop(tx, of) {
      return of.length === 0 ? [] : (await tx.query<EndedRun>(stop, [of])).rows;
    },
    async ofRuns(runIds, onlyRates) {
      if (runIds.length === 0) return [];
      const { rows } = await db.query<{ limit_id: number; gate: string }>(ofRuns, [runIds, onlyRates]);
      return rows.map((row) => ({ limitId: row.limit_id, gate: row.gate }));
    },
    unswept: async (afterMs, limit) =>
      (await db.query<{ id: number }>(unswept, [afterMs, limit])).rows.map((row) => row.id),
    forget: async (afterMs, limit) => (await db.query(forget, [afterMs, limit])).rowCount,
  };
}

const nameColumns = [
  ({ namespaceId }: NamedLimit) => namespaceId,
  ({ limit }: NamedLimit) => limit.scope,
  ({ limit }: NamedLimit) => limit.kind,
  ({ limit }: NamedLimit) => limit.name,
];

function admissionParameters({ runs, holds, limits, isSwept }: Admission): unknown[] {
  return [
    ...columns(runs, [(run) => run.id, (run) => run.fence]),
    ...columns(holds, [(hold) => hold.limitId, (hold) => hold.runId, (hold) => hold.fence, (hold) => hold.gate]),
    ...columns(limits, [
      (row) => row.id,
      (row) => row.limit.limit,
      (row) => row.limit.perMs,
      (row) => row.limit.burst,
      (row) => row.limit.onFailure,
      (row) => timestampOrNull(row.definedAt),
      (row) => row.used,
      (row) => `{${row.starts.join(",")}}`,
      (row) => row.stoppedBy,
    ]),
    isSwept,
  ];
}

function toHead(row: HeadRow): WaitingHead {
  const { id, queue, rank, fence, limits } = row;
  return {
    id,
    namespaceId: row.namespace_id,
    queue,
    rank,
    fence,
    limits,
    createdAt: row.created_at,
    isPaused: row.is_paused,
    queueLimits: row.queue_limits,
    namespaceLimits: row.namespace_limits,
  };
}

function toLimit(row: KeyRow): LimitRow {
  const { id, scope, kind, name, most: limit, per_ms: perMs, burst, on_failure: onFailure, used, starts } = row;
  return {
    id,
    namespaceId: row.namespace_id,
    limit: { scope, kind, name, limit, perMs, burst, onFailure },
    isFixed: row.is_fixed,
    definedAt: row.defined_at,
    used,
    starts: starts.map(Number),
    stoppedBy: row.stopped_by,
  };
}
