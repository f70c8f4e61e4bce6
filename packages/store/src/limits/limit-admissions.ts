import type { DurationMs, Instant, RunError, RunPolicy } from "@carillon/core";
import { columns, jsonParam, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { type EndedRow, type EndedRun, type EndedRuns, type Queued, toEnded } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";
import {
  type NamedLimit,
  type LimitRow,
  type WaitingHead,
  type HeadRow,
  type KeyRow,
  toHead,
  toLimit,
} from "./limit-rows.js";

export interface ReleasedHold {
  readonly limitId: number;
  readonly runId: string;
  readonly gate: string;
  readonly hasFailed: boolean;
  /** null: it never started. */
  readonly startedAt: Instant | null;
}

/** The run that holds an ordering key. */
export interface OrderHolder {
  readonly limitId: number;
  readonly runId: string;
  /** It waits to be admitted again. */
  readonly waits: boolean;
}

export interface Released {
  readonly over: readonly ReleasedHold[];
  readonly holders: readonly OrderHolder[];
}

/** The holds to check: those of these runs on these limits, and all holds of the limits in `whole`. */
export interface Held {
  readonly limitIds: readonly number[];
  readonly runIds: readonly string[];
  readonly whole: readonly number[];
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
  /** Every hold was checked. */
  readonly isSwept: boolean;
}

/** Statements of admissions. Each call with a transaction needs the limits locked by it, except those before `lock`. */
export interface LimitAdmissions {
  gates(after: string, limit: number): Promise<string[]>;
  /** The first run behind each gate, without locks: it shows which limits to lock. */
  first(tx: Queryable, gates: readonly string[]): Promise<WaitingHead[]>;
  /** Locks the rows of their queues and namespaces: only with the limits locked. */
  heads(tx: Queryable, gates: readonly string[], maxOfEach: number): Promise<WaitingHead[]>;
  define(tx: Queryable, limits: readonly NamedLimit[]): Promise<void>;
  lock(
    tx: Queryable,
    limits: readonly NamedLimit[],
    ids: readonly number[],
  ): Promise<{ rows: LimitRow[]; now: Instant }>;
  disposed(tx: Queryable, runIds: readonly string[]): Promise<Set<string>>;
  /** Returns the holders of every ordering key in `whole`. */
  release(tx: Queryable, held: Held): Promise<Released>;
  /** Runs that hold these ordering keys and wait to be admitted again. */
  holders(tx: Queryable, limitIds: readonly number[]): Promise<WaitingHead[]>;
  admit(tx: Queryable, admission: Admission): Promise<Queued[]>;
  stop(tx: Queryable, gates: readonly string[]): Promise<readonly EndedRun[]>;
  /** The limits that ended runs held, and the rates of started runs. */
  ofRuns(over: readonly string[], started: readonly string[]): Promise<{ limitId: number; gate: string }[]>;
  unswept(afterMs: DurationMs, limit: number): Promise<number[]>;
  forget(afterMs: DurationMs, limit: number): Promise<number>;
}

export function limitAdmissions(db: Queryable, statements: Statements): LimitAdmissions {
  const statement = (name: string) => statements.get(`limit.${name}`);
  const [gates, first, heads] = [statement("gates"), statement("first"), statement("heads")];
  const [define, lock] = [statement("define"), statement("lock")];
  const [disposed, release, holders] = [statement("disposed"), statement("release"), statement("holders")];
  const [admit, stop, ofRuns] = [statement("admit"), statement("stop"), statement("of_runs")];
  const [unswept, forget] = [statement("unswept"), statement("forget")];
  return {
    gates: async (after, limit) =>
      (await db.query<{ gate: string }>(gates, [after, limit])).rows.map((row) => row.gate),
    first: async (tx, of) => (of.length === 0 ? [] : (await tx.query<HeadRow>(first, [of])).rows.map(toHead)),
    heads: async (tx, of, maxOfEach) =>
      of.length === 0 ? [] : (await tx.query<HeadRow>(heads, [of, maxOfEach])).rows.map(toHead),
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
      // Read before the locks were taken, so too early rather than too late: a window then holds more starts, never fewer.
      return { rows: rows.map(toLimit), now: rows[0]?.now_ms ?? 0 };
    },
    async disposed(tx, runIds) {
      if (runIds.length === 0) return new Set();
      return new Set((await tx.query<{ run_id: string }>(disposed, [runIds])).rows.map((row) => row.run_id));
    },
    async release(tx, { limitIds, runIds, whole }) {
      type Row = {
        limit_id: number;
        run_id: string;
        gate: string;
        is_over: boolean;
        waits: boolean;
        has_failed: boolean | null;
        started_ms: number | null;
      };
      const over: ReleasedHold[] = [];
      const stay: OrderHolder[] = [];
      if (limitIds.length === 0) return { over, holders: stay };
      for (const row of (await tx.query<Row>(release, [limitIds, runIds, whole])).rows) {
        const { limit_id: limitId, run_id: runId, gate, waits } = row;
        if (row.is_over)
          over.push({ limitId, runId, gate, hasFailed: row.has_failed === true, startedAt: row.started_ms });
        else stay.push({ limitId, runId, waits });
      }
      return { over, holders: stay };
    },
    async holders(tx, limitIds) {
      return limitIds.length === 0 ? [] : (await tx.query<HeadRow>(holders, [limitIds])).rows.map(toHead);
    },
    admit: async (tx, admission) => (await tx.query<Queued>(admit, admissionParameters(admission))).rows,
    async stop(tx, of) {
      return of.length === 0 ? [] : (await tx.query<EndedRun>(stop, [of])).rows;
    },
    async ofRuns(over, started) {
      if (over.length + started.length === 0) return [];
      const { rows } = await db.query<{ limit_id: number; gate: string }>(ofRuns, [over, started]);
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

/** What takes runs in asks of the store. */
export interface LimitIntake {
  /** Of the first lanes first. */
  intake(tx: Queryable, lanes: readonly LimitedLane[], most: { ofEach: number; ofAll: number }): Promise<ArrivedRun[]>;
  block(tx: Queryable, runs: readonly BlockedRun[]): Promise<void>;
  refuse(tx: Queryable, runs: readonly RefusedRun[]): Promise<EndedRuns>;
}

export function limitIntake(statements: Statements): LimitIntake {
  const [intake, block] = [statements.get("limit.intake"), statements.get("limit.block")];
  const refuse = statements.get("limit.refuse");
  return {
    async intake(tx, lanes, { ofEach, ofAll }) {
      type Row = Omit<ArrivedRun, "namespaceId" | "jobId" | "policy"> & {
        namespace_id: number;
        job_id: string | null;
        policy: RunPolicy | null;
      };
      const values = [...columns(lanes, [(one) => one.lane, (one) => one.namespaceId]), ofEach, ofAll];
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
  };
}
