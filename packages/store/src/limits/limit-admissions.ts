import type { DurationMs, Instant, RunError, RunPolicy } from "@carillon/core";
import { jsonParam, namedColumns, timestampOrNull, timestampParam } from "../db/parameters.js";
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

/** Statements of admissions. Each call with a transaction needs the limits locked by it, except the methods above `lock`. */
export interface LimitAdmissions {
  gates(after: string, limit: number): Promise<string[]>;
  /** The first run behind each gate, without locks: it shows which limits to lock. */
  first(tx: Queryable, gates: readonly string[]): Promise<WaitingHead[]>;
  /** Also locks the rows of their queues and namespaces; the limits must be locked. */
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
  const gates = statements.get("limit.gates");
  const first = statements.get("limit.first");
  const heads = statements.get("limit.heads");
  const define = statements.get("limit.define");
  const lock = statements.get("limit.lock");
  const redriven = statements.get("limit.redriven");
  const release = statements.get("limit.release");
  const holders = statements.get("limit.holders");
  const admit = statements.get("limit.admit");
  const cancelWaiting = statements.get("limit.cancel_waiting");
  const heldBy = statements.get("limit.of_runs");
  const unswept = statements.get("limit.unswept");
  const deleteUnused = statements.get("limit.delete_unused");
  return {
    gates: async (after, limit) =>
      (await db.query<{ gate: string }>(gates, gates.values({ after, limit }))).rows.map((row) => row.gate),
    async first(tx, of) {
      return of.length === 0 ? [] : (await tx.query<HeadRow>(first, first.values({ gates: of }))).rows.map(toHead);
    },
    async heads(tx, of, maxOfEach) {
      if (of.length === 0) return [];
      const values = heads.values({ gates: of, maxRuns: maxOfEach });
      return (await tx.query<HeadRow>(heads, values)).rows.map(toHead);
    },
    async define(tx, limits) {
      if (limits.length === 0) return;
      const values = namedColumns(limits, {
        ...nameColumns,
        limits: ({ limit }) => limit.limit,
        perMs: ({ limit }) => limit.perMs,
        bursts: ({ limit }) => limit.burst,
        onFailures: ({ limit }) => limit.onFailure,
        definedTimes: ({ definedAt }) => timestampParam(definedAt),
      });
      await tx.query(define, define.values(values));
    },
    async lock(tx, limits, ids) {
      const values = lock.values({ ...namedColumns(limits, nameColumns), ids });
      const { rows } = await tx.query<KeyRow & { now_ms: number }>(lock, values);
      // The time was read before the locks were taken: if it is early, a window counts more starts, never fewer.
      return { rows: rows.map(toLimit), now: rows[0]?.now_ms ?? 0 };
    },
    async disposed(tx, runIds) {
      if (runIds.length === 0) return new Set();
      const { rows } = await tx.query<{ run_id: string }>(redriven, redriven.values({ runIds }));
      return new Set(rows.map((row) => row.run_id));
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
      const values = release.values({ limitIds, runIds, wholeLimitIds: whole });
      for (const row of (await tx.query<Row>(release, values)).rows) {
        const { limit_id: limitId, run_id: runId, gate, waits } = row;
        if (row.is_over)
          over.push({ limitId, runId, gate, hasFailed: row.has_failed === true, startedAt: row.started_ms });
        else stay.push({ limitId, runId, waits });
      }
      return { over, holders: stay };
    },
    async holders(tx, limitIds) {
      if (limitIds.length === 0) return [];
      return (await tx.query<HeadRow>(holders, holders.values({ limitIds }))).rows.map(toHead);
    },
    admit: async (tx, admission) => (await tx.query<Queued>(admit, admit.values(admissionValues(admission)))).rows,
    async stop(tx, of) {
      if (of.length === 0) return [];
      return (await tx.query<EndedRun>(cancelWaiting, cancelWaiting.values({ gates: of }))).rows;
    },
    async ofRuns(over, started) {
      if (over.length + started.length === 0) return [];
      const values = heldBy.values({ endedIds: over, startedIds: started });
      const { rows } = await db.query<{ limit_id: number; gate: string }>(heldBy, values);
      return rows.map((row) => ({ limitId: row.limit_id, gate: row.gate }));
    },
    unswept: async (afterMs, limit) =>
      (await db.query<{ id: number }>(unswept, unswept.values({ afterMs, limit }))).rows.map((row) => row.id),
    forget: async (afterMs, limit) => (await db.query(deleteUnused, deleteUnused.values({ afterMs, limit }))).rowCount,
  };
}

const nameColumns = {
  namespaceIds: ({ namespaceId }: NamedLimit) => namespaceId,
  scopes: ({ limit }: NamedLimit) => limit.scope,
  kinds: ({ limit }: NamedLimit) => limit.kind,
  names: ({ limit }: NamedLimit) => limit.name,
};

function admissionValues({ runs, holds, limits, isSwept }: Admission) {
  return {
    ...namedColumns(runs, { runIds: (run) => run.id, runFences: (run) => run.fence }),
    ...namedColumns(holds, {
      holdLimitIds: (hold) => hold.limitId,
      holdRunIds: (hold) => hold.runId,
      holdFences: (hold) => hold.fence,
      holdGates: (hold) => hold.gate,
    }),
    ...namedColumns(limits, {
      limitIds: (row) => row.id,
      limits: (row) => row.limit.limit,
      perMs: (row) => row.limit.perMs,
      bursts: (row) => row.limit.burst,
      onFailures: (row) => row.limit.onFailure,
      definedTimes: (row) => timestampOrNull(row.definedAt),
      used: (row) => row.used,
      starts: (row) => `{${row.starts.join(",")}}`,
      stoppedBy: (row) => row.stoppedBy,
    }),
    isSwept,
  };
}

/** A lane whose queued runs have limits; `namespaceId` null: of every namespace. */
export interface LimitedLane {
  readonly lane: number;
  readonly namespaceId: number | null;
}

/** A run whose limits are not recorded yet. */
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

/** The statements by which runs with limits get behind their gates. */
export interface LimitIntake {
  /** Takes runs of the first lanes first. */
  intake(tx: Queryable, lanes: readonly LimitedLane[], max: { ofEach: number; ofAll: number }): Promise<ArrivedRun[]>;
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
      const ofLanes = namedColumns(lanes, { lanes: (one) => one.lane, namespaceIds: (one) => one.namespaceId });
      const values = intake.values({ ...ofLanes, maxOfEach: ofEach, maxOfAll: ofAll });
      return (await tx.query<Row>(intake, values)).rows.map((row) => {
        const { id, lane, task, queue, payload, namespace_id: namespaceId, job_id: jobId, policy } = row;
        return { id, namespaceId, jobId, lane, task, queue, payload, policy: policy ?? {} };
      });
    },
    async block(tx, runs) {
      if (runs.length === 0) return;
      const ofRuns = namedColumns(runs, {
        ids: (run) => run.id,
        limits: (run) => run.limits,
        lanes: (run) => run.lane,
      });
      const { rowCount } = await tx.query(block, block.values(ofRuns));
      if (rowCount !== runs.length)
        throw new Error(`limit.block changed ${rowCount} of ${runs.length} rows that this transaction holds`);
    },
    async refuse(tx, runs) {
      if (runs.length === 0) return new Map();
      const ofRuns = namedColumns(runs, {
        ids: (run) => run.id,
        errors: (run) => jsonParam(run.error),
        fingerprints: (run) => run.error.fingerprint ?? null,
      });
      return toEnded((await tx.query<EndedRow>(refuse, refuse.values(ofRuns))).rows);
    },
  };
}
