import type {
  FiringPolicy,
  Instant,
  JobState,
  LedgerReason,
  LiveRunStatus,
  OverlapPolicy,
  RunPolicy,
  ScheduleSpec,
} from "@carillon/core";
import { type Fence, fenceParameters } from "../cluster/shard-store.js";
import { columns, jsonOrNull, jsonParam, shardArray, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { EndedRun, Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";
import { type PauseColumn, type StoredPause, readPause } from "./stored-pause.js";

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
  /** null unless it was requested. */
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

/** The columns of job_due. */
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
  /** Runs that may be live, the newest last; the newest stays when it has ended. */
  readonly runIds: readonly string[];
  /** The begin of the ledger's open range, which still grows. */
  readonly ledgerFrom: Instant | null;
  readonly ledgerReason: string | null;
  readonly catchUpTo: Instant | null;
  /** Why the due occurrence waits; null: it does not. */
  readonly stateReason: string | null;
}

export interface LiveRunOfJob {
  readonly jobId: string;
  readonly id: string;
  readonly status: LiveRunStatus;
}

/** A due occurrence as the scheduler's wheel holds it; compared with the locked row. */
export interface ExpectedDue {
  readonly jobId: string;
  readonly version: number;
  readonly nominal: Instant;
  readonly runsMade: number;
}

/** The reads of a job transaction. Each runs in the caller's transaction; locks first, the deciding values after them. */
export interface JobTransactionReads {
  setLockTimeout(tx: Queryable, limitMs: number): Promise<void>;
  /** Waits for rows that another transaction holds; returns the jobs that exist. */
  lock(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Skips rows that another transaction holds. */
  lockFree(tx: Queryable, jobIds: readonly string[]): Promise<string[]>;
  /** Jobs whose waiting runs no live run blocks; a hint. */
  admissible(db: Queryable, shards: readonly number[], limit: number): Promise<string[]>;
  /** Skips rows that are locked, changed or not due. `windows`: the revision of the maintenance windows that decided. */
  lockDue(tx: Queryable, fence: Fence, due: readonly ExpectedDue[], windows: number | null): Promise<string[]>;
  lockExpired(tx: Queryable, fence: Fence, paused: readonly { jobId: string; version: number }[]): Promise<string[]>;
  read(tx: Queryable, jobIds: readonly string[], wants: { payload: boolean }): Promise<LockedJob[]>;
  /** Oldest first. With `hold` no other transaction claims or ends them before this one ends. */
  live(tx: Queryable, jobIds: readonly string[], options: { hold: boolean }): Promise<LiveRunOfJob[]>;
  /** Locks the entries of the ledger that reach past an instant of their job: instants to come that calendars removed. */
  ahead(tx: Queryable, jobs: readonly { jobId: string; after: Instant }[]): Promise<LedgerEntryKey[]>;
  /** Locks so many waiting runs of a job that does not list its runs; none if it has fewer. Runs claimed meanwhile are skipped. */
  holdUntracked(tx: Queryable, jobId: string, limit: number): Promise<string[]>;
}

export function jobTransactionReads(statements: Statements): JobTransactionReads {
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
  const ahead = statements.get("settlement.ahead");
  const ids = (rows: readonly { job_id: string }[]): string[] => rows.map((row) => row.job_id);
  return {
    async setLockTimeout(tx, limitMs) {
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
    async ahead(tx, jobs) {
      const values = columns(jobs, [(one) => one.jobId, (one) => timestampParam(one.after)]);
      type Row = { job_id: string; version: number; reason: LedgerReason; from_at: Instant };
      const { rows } = await tx.query<Row>(ahead, values);
      return rows.map(({ job_id: jobId, version, reason, from_at: from }) => ({ jobId, version, reason, from }));
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

/** The values of a run that replace those of its job. */
export interface RunOverrides {
  readonly lane?: number;
  readonly queue?: string;
  readonly priority?: number;
  /** Wrapped, because null is a payload too. */
  readonly payload?: { readonly value: unknown };
  readonly policy?: RunPolicy;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface NewJobRun {
  readonly id: string;
  readonly jobId: string;
  readonly state: "queued" | "blocked";
  readonly rank: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  /** Other runs of its job may wait for its end. */
  readonly serial: boolean;
  /** Its job does not list its runs. */
  readonly untracked: boolean;
  readonly deadline: Instant | null;
  readonly overrides: RunOverrides;
}

export interface MadeJobRun {
  readonly id: string;
  readonly jobId: string;
  readonly state: "queued" | "blocked";
  readonly lane: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly createdAt: Instant;
}

export interface LedgerEntry {
  readonly jobId: string;
  readonly namespaceId: number;
  readonly version: number;
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

export type LedgerEntryKey = Pick<LedgerEntry, "jobId" | "version" | "reason" | "from">;

/** A shorter end and count of an entry of the ledger. With a count of 0 the entry is removed. */
export type LedgerCut = LedgerEntryKey & Pick<LedgerEntry, "to" | "count">;

export interface DueMove {
  readonly jobId: string;
  readonly expectedVersion: number;
  readonly due: DueState;
}

export interface RunEnd {
  readonly id: string;
  readonly reason: string;
}

/** A waiting run that was ended. */
export type EndedWaiting = Omit<EndedRun, "freedJobId">;

/** The writes of a job transaction, as sets. The jobs' rows must be locked by the same transaction. */
export interface JobTransactionWrites {
  /** Returns the runs that were made; the others existed already. */
  insertRuns(tx: Queryable, runs: readonly NewJobRun[]): Promise<MadeJobRun[]>;
  /** Ends waiting runs; returns those that waited. */
  endRuns(tx: Queryable, runs: readonly RunEnd[]): Promise<readonly EndedWaiting[]>;
  /** Requests running runs to stop; returns those that run, with the session that holds them. */
  stopRuns(tx: Queryable, runs: readonly RunEnd[]): Promise<{ id: string; sessionId: string }[]>;
  /** Their job does not list its runs any more; returns those that waited for other runs of it and may start now. */
  untrackRuns(tx: Queryable, ids: readonly string[]): Promise<Queued[]>;
  /** Throws if a row differs from the locked one: only a bug can cause that. */
  move(tx: Queryable, moves: readonly DueMove[]): Promise<void>;
  note(tx: Queryable, entries: readonly LedgerEntry[]): Promise<void>;
  /** Throws if an entry is missing: only a bug can cause that. */
  cut(tx: Queryable, cuts: readonly LedgerCut[]): Promise<void>;
  /** Queues runs that waited for other runs of their job. */
  admitRuns(tx: Queryable, ids: readonly string[]): Promise<Queued[]>;
}

export function jobTransactionWrites(statements: Statements): JobTransactionWrites {
  const insertRuns = statements.get("settlement.insert_runs");
  const endRuns = statements.get("settlement.end_runs");
  const stopRuns = statements.get("settlement.stop_runs");
  const untrackRuns = statements.get("settlement.untrack_runs");
  const move = statements.get("settlement.move");
  const note = statements.get("settlement.note");
  const cut = statements.get("settlement.cut");
  const admitRuns = statements.get("settlement.admit_runs");
  const ends = (runs: readonly RunEnd[]): unknown[] => columns(runs, [(run) => run.id, (run) => run.reason]);
  return {
    async insertRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<MadeRow>(insertRuns, runParameters(runs))).rows.map(toMadeRun);
    },
    async endRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<EndedWaiting>(endRuns, ends(runs))).rows;
    },
    async stopRuns(tx, runs) {
      if (runs.length === 0) return [];
      const { rows } = await tx.query<{ id: string; session_id: string }>(stopRuns, ends(runs));
      return rows.map((row) => ({ id: row.id, sessionId: row.session_id }));
    },
    async untrackRuns(tx, ids) {
      if (ids.length === 0) return [];
      const { rows } = await tx.query<Queued & { waited: boolean }>(untrackRuns, [ids]);
      return rows.flatMap(({ waited, ...run }) => (waited ? [run] : []));
    },
    async move(tx, moves) {
      if (moves.length === 0) return;
      const { rowCount } = await tx.query(move, moveParameters(moves));
      if (rowCount !== moves.length)
        throw new Error(`settlement.move changed ${rowCount} of ${moves.length} rows that this transaction holds`);
    },
    async note(tx, entries) {
      if (entries.length > 0) await tx.query(note, noteParameters(mergeEntries(entries)));
    },
    async cut(tx, cuts) {
      const { rowCount } = await tx.query(cut, cutParameters(cuts));
      if (rowCount !== cuts.length)
        throw new Error(
          `settlement.cut changed ${rowCount} of ${cuts.length} entries of jobs that this transaction holds`,
        );
    },
    async admitRuns(tx, ids) {
      return ids.length === 0 ? [] : (await tx.query<Queued>(admitRuns, [ids])).rows;
    },
  };
}

export interface MadeRow {
  id: string;
  job_id: string;
  state: "queued" | "blocked";
  lane: number;
  rank: number;
  run_at: Instant;
  created_at: Instant;
}

export function toMadeRun(row: MadeRow): MadeJobRun {
  const { id, state, lane, rank } = row;
  return { id, jobId: row.job_id, state, lane, rank, runAt: row.run_at, createdAt: row.created_at };
}

function runParameters(runs: readonly NewJobRun[]): unknown[] {
  return columns(runs, [
    (run) => run.id,
    (run) => run.jobId,
    (run) => run.state,
    (run) => run.rank,
    (run) => timestampParam(run.runAt),
    (run) => timestampParam(run.nominal),
    (run) => run.trigger,
    (run) => run.serial,
    (run) => run.untracked,
    (run) => run.overrides.lane ?? null,
    (run) => run.overrides.queue ?? null,
    (run) => run.overrides.priority ?? null,
    (run) => (run.overrides.payload === undefined ? null : jsonParam(run.overrides.payload.value)),
    (run) => jsonOrNull(run.overrides.policy),
    (run) => jsonOrNull(run.overrides.labels),
    (run) => timestampOrNull(run.deadline),
  ]);
}

function moveParameters(moves: readonly DueMove[]): unknown[] {
  return columns(moves, [
    (one) => one.jobId,
    (one) => one.expectedVersion,
    (one) => one.due.version,
    (one) => one.due.state,
    (one) => one.due.class,
    (one) => timestampOrNull(one.due.nominal),
    (one) => timestampOrNull(one.due.fireAt),
    (one) => timestampOrNull(one.due.firedThrough),
    (one) => one.due.firedCount,
    (one) => one.due.maxRuns,
    (one) => one.due.overlap,
    (one) => one.due.runsMade,
    (one) => `{${one.due.runIds.join(",")}}`,
    (one) => timestampOrNull(one.due.ledgerFrom),
    (one) => one.due.ledgerReason,
    (one) => timestampOrNull(one.due.catchUpTo),
    (one) => one.due.stateReason,
  ]);
}

export function noteParameters(entries: readonly LedgerEntry[]): unknown[] {
  return columns(entries, [
    (entry) => entry.jobId,
    (entry) => entry.namespaceId,
    (entry) => entry.version,
    (entry) => entry.reason,
    (entry) => timestampParam(entry.from),
    (entry) => timestampParam(entry.to),
    (entry) => entry.count,
    (entry) => entry.detail,
  ]);
}

function cutParameters(cuts: readonly LedgerCut[]): unknown[] {
  return columns(cuts, [
    (one) => one.jobId,
    (one) => one.version,
    (one) => one.reason,
    (one) => timestampParam(one.from),
    (one) => timestampParam(one.to),
    (one) => one.count,
  ]);
}

/** A statement may update a range only once. */
function mergeEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const byRange = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    const range = `${entry.jobId} ${entry.version} ${entry.reason} ${entry.from}`;
    const known = byRange.get(range);
    byRange.set(range, known === undefined ? entry : merged(known, entry));
  }
  return [...byRange.values()];
}

/** A detail that does not fit the whole range is dropped. */
function merged(known: LedgerEntry, entry: LedgerEntry): LedgerEntry {
  const { to, count, detail } = entry;
  const shared = known.detail === detail ? detail : null;
  return { ...known, to: Math.max(known.to, to), count: known.count + count, detail: shared };
}
