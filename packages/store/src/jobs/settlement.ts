import type {
  FiringPolicy,
  Instant,
  JobState,
  LiveRunStatus,
  OverlapPolicy,
  RunPolicy,
  ScheduleSpec,
} from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import { shardArray } from "../db/shard-array.js";
import type { Statements } from "../sql/statement.js";
import { type Fence, fenceParameters } from "../runs/fence.js";
import { columns } from "../dispatch/parameters.js";
import { type PauseColumn, readPause, type StoredPause } from "../catalog/stored-pause.js";

/** A job whose row this transaction has locked: definition, due state, and the database's clock after the lock. */
export interface LockedJob {
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly key: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** null where it was not asked for. */
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  readonly firing: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly definedAt: Instant | null;
  readonly pause: StoredPause | null;
  readonly endedAt: Instant | null;
  readonly due: DueState;
  /** The revision of the maintenance windows. */
  readonly windows: number;
  readonly now: Instant;
}

/** What job_due holds of a job. */
export interface DueState {
  readonly class: number;
  readonly state: JobState;
  readonly version: number;
  readonly nominal: Instant | null;
  readonly fireAt: Instant | null;
  readonly firedThrough: Instant | null;
  readonly firedCount: number;
  readonly maxRuns: number | null;
  readonly overlap: OverlapPolicy;
  readonly runsMade: number;
  /** Runs that may be live, the newest last, which stays when it has ended. */
  readonly runIds: readonly string[];
  /** The range of the ledger that still grows. */
  readonly ledgerFrom: Instant | null;
  readonly ledgerReason: string | null;
  readonly catchUpTo: Instant | null;
  /** Why the occurrence that is due waits; null as a rule. */
  readonly stateReason: string | null;
}

export interface LiveRunOfJob {
  readonly jobId: string;
  readonly id: string;
  readonly status: LiveRunStatus;
}

/** A due occurrence as the wheel holds it; compared on the locked row. */
export interface ExpectedDue {
  readonly jobId: string;
  readonly version: number;
  readonly nominal: Instant;
  readonly runsMade: number;
}

/** The reads of a settlement. Each runs in the caller's transaction; locks come first, what decides is read after them. */
export interface SettlementReads {
  bePatient(tx: Queryable, limitMs: number): Promise<void>;
  /** Waits for whoever holds a row; answers the jobs that exist. */
  lock(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Leaves out what somebody holds. */
  lockFree(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Jobs whose waiting runs have nothing left to wait for; a hint. */
  admissible(db: Queryable, shards: readonly number[], limit: number): Promise<string[]>;
  /** Leaves out what is locked, changed or not due. `windows`: the revision of the maintenance windows that decided. */
  lockDue(tx: Queryable, fence: Fence, due: readonly ExpectedDue[], windows: number | null): Promise<string[]>;
  lockExpired(tx: Queryable, fence: Fence, paused: readonly { jobId: string; version: number }[]): Promise<string[]>;
  read(tx: Queryable, jobIds: readonly string[], wants: { payload: boolean }): Promise<LockedJob[]>;
  /** Oldest first. With `hold` none of them is claimed or ended by others before this transaction is over. */
  live(tx: Queryable, jobIds: readonly string[], options: { hold: boolean }): Promise<LiveRunOfJob[]>;
  /** So many runs that wait, of a job that keeps no list of its runs, locked; none if it has fewer. Those claimed meanwhile are left out. */
  holdUntracked(tx: Queryable, jobId: string, limit: number): Promise<string[]>;
}

export function settlementReads(statements: Statements): SettlementReads {
  const bePatient = statements.get("settlement.be_patient");
  const lock = statements.get("settlement.lock");
  const lockFree = statements.get("settlement.lock_free");
  const admissible = statements.get("settlement.admissible");
  const lockDue = statements.get("settlement.lock_due");
  const lockExpired = statements.get("settlement.lock_expired");
  const read = statements.get("settlement.read");
  const live = statements.get("settlement.live");
  const holdLive = statements.get("settlement.hold_live");
  const holdUntracked = statements.get("settlement.hold_untracked");
  const ids = (rows: readonly { job_id: string }[]): string[] => rows.map((row) => row.job_id);
  return {
    async bePatient(tx, limitMs) {
      await tx.query(bePatient, [`${limitMs}ms`]);
    },
    async lock(tx, jobIds) {
      return ids((await tx.query<{ job_id: string }>(lock, [jobIds])).rows);
    },
    async lockFree(tx, jobIds) {
      return ids((await tx.query<{ job_id: string }>(lockFree, [jobIds])).rows);
    },
    async admissible(db, shards, limit) {
      return ids((await db.query<{ job_id: string }>(admissible, [shardArray(shards), limit])).rows);
    },
    async lockDue(tx, fence, due, windows) {
      const values = columns(due, [
        (one) => one.jobId,
        (one) => one.version,
        (one) => timestampParam(one.nominal),
        (one) => one.runsMade,
      ]);
      return ids((await tx.query<{ job_id: string }>(lockDue, [...fenceParameters(fence), ...values, windows])).rows);
    },
    async lockExpired(tx, fence, paused) {
      const values = columns(paused, [(one) => one.jobId, (one) => one.version]);
      return ids((await tx.query<{ job_id: string }>(lockExpired, [...fenceParameters(fence), ...values])).rows);
    },
    async read(tx, jobIds, wants) {
      return (await tx.query<LockedRow>(read, [jobIds, wants.payload])).rows.map(toLockedJob);
    },
    async live(tx, jobIds, { hold }) {
      type Row = { job_id: string; id: string; state: LiveRunStatus };
      const { rows } = await tx.query<Row>(hold ? holdLive : live, [jobIds]);
      return rows.map((row) => ({ jobId: row.job_id, id: row.id, status: row.state }));
    },
    async holdUntracked(tx, jobId, limit) {
      return (await tx.query<{ id: string }>(holdUntracked, [jobId, limit])).rows.map((row) => row.id);
    },
  };
}

interface LockedRow {
  id: string;
  namespace_id: number;
  shard: number;
  lane: number;
  key: string | null;
  task: string;
  queue: string;
  priority: number;
  payload: unknown;
  schedule: ScheduleSpec;
  policy: RunPolicy | null;
  firing: Partial<FiringPolicy> | null;
  labels: Record<string, string>;
  owner: string | null;
  created_at: Instant;
  updated_at: Instant;
  defined_at: Instant | null;
  pause: PauseColumn | null;
  ended_at: Instant | null;
  class: number;
  state: JobState;
  version: number;
  next_nominal_at: Instant | null;
  next_fire_at: Instant | null;
  fired_through: Instant | null;
  fired_count: number;
  max_runs: number | null;
  overlap: OverlapPolicy;
  runs_made: number;
  run_ids: string[];
  ledger_from: Instant | null;
  ledger_reason: string | null;
  catch_up_to: Instant | null;
  state_reason: string | null;
  windows: number;
  now: Instant;
}

function toLockedJob(row: LockedRow): LockedJob {
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    shard: row.shard,
    lane: row.lane,
    key: row.key,
    task: row.task,
    queue: row.queue,
    priority: row.priority,
    payload: row.payload,
    schedule: row.schedule,
    policy: row.policy ?? {},
    firing: row.firing ?? {},
    labels: row.labels,
    owner: row.owner,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    definedAt: row.defined_at,
    pause: readPause(row),
    endedAt: row.ended_at,
    due: toDueState(row),
    windows: row.windows,
    now: row.now,
  };
}

function toDueState(row: LockedRow): DueState {
  return {
    class: row.class,
    state: row.state,
    version: row.version,
    nominal: row.next_nominal_at,
    fireAt: row.next_fire_at,
    firedThrough: row.fired_through,
    firedCount: row.fired_count,
    maxRuns: row.max_runs,
    overlap: row.overlap,
    runsMade: row.runs_made,
    runIds: row.run_ids,
    ledgerFrom: row.ledger_from,
    ledgerReason: row.ledger_reason,
    catchUpTo: row.catch_up_to,
    stateReason: row.state_reason,
  };
}
