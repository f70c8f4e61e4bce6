import type {
  FiringPolicy,
  Instant,
  JobPause,
  JobState,
  LedgerReason,
  LiveRunStatus,
  OverlapPolicy,
  RunPolicy,
  ScheduleSpec,
  StoredSpec,
} from "@carillon/core";
import { type Fence, fenceValues } from "../cluster/shard-store.js";
import { jsonOrNull, jsonParam, namedColumns, shardArray, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { EndedRun, Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";

/** A job whose row this transaction has locked: definition, due state, and the database's clock after the lock. */
export interface LockedJob extends StoredSpec {
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  /** null unless it was requested. */
  readonly payload: unknown;
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
  /** The start of the ledger's open range, which still grows. */
  readonly ledgerFrom: Instant | null;
  readonly ledgerReason: string | null;
  readonly catchUpTo: Instant | null;
  /** Why the due occurrence waits; null: it does not. */
  readonly stateReason: string | null;
}

/** The column `job.pause`; the scheduler, which pauses a job that cannot be fired, stores only the actor, the reason and the time. */
export type PauseColumn = Pick<JobPause, "reason" | "actor" | "at"> & Partial<StoredPause>;

export interface StoredPause extends JobPause {
  /** The pause contains the occurrences after this instant. */
  readonly after: Instant;
}

export interface PausedRow {
  readonly pause: PauseColumn | null;
  readonly fired_through: Instant | null;
  readonly defined_at: Instant | null;
  readonly created_at: Instant;
}

export function readPause({ pause, fired_through, defined_at, created_at }: PausedRow): StoredPause | null {
  if (pause === null) return null;
  const since = Math.max(fired_through ?? 0, defined_at ?? created_at);
  return { until: null, missed: "none", after: since, ...pause };
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
  /** Locks the ledger entries that reach past an instant of their job: future instants that calendars removed. */
  future(tx: Queryable, jobs: readonly { jobId: string; after: Instant }[]): Promise<LedgerEntryKey[]>;
  /** Locks `limit` waiting runs of a job that does not list its runs; none if it has fewer. Runs claimed meanwhile are skipped. */
  holdUntracked(tx: Queryable, jobId: string, limit: number): Promise<string[]>;
}

export function jobTransactionReads(statements: Statements): JobTransactionReads {
  const lockTimeout = statements.get("job_transaction.set_lock_timeout");
  const lock = statements.get("job_transaction.lock_jobs");
  const lockFree = statements.get("job_transaction.lock_available");
  const admissible = statements.get("job_transaction.list_admissible");
  const lockDue = statements.get("job_transaction.lock_due");
  const lockExpired = statements.get("job_transaction.lock_expired_pauses");
  const read = statements.get("job_transaction.read_jobs");
  const live = statements.get("job_transaction.list_live_runs");
  const holdLive = statements.get("job_transaction.lock_live_runs");
  const holdUntracked = statements.get("job_transaction.lock_untracked_runs");
  const lockFuture = statements.get("job_transaction.lock_future_entries");
  const ids = (rows: readonly { job_id: string }[]): string[] => rows.map((row) => row.job_id);
  return {
    async setLockTimeout(tx, limitMs) {
      await tx.query(lockTimeout, lockTimeout.values({ limit: `${limitMs}ms` }));
    },
    async lock(tx, jobIds) {
      return ids((await tx.query<{ job_id: string }>(lock, lock.values({ jobIds }))).rows);
    },
    async lockFree(tx, jobIds) {
      return ids((await tx.query<{ job_id: string }>(lockFree, lockFree.values({ jobIds }))).rows);
    },
    async admissible(db, shards, limit) {
      const values = admissible.values({ shards: shardArray(shards), limit });
      return ids((await db.query<{ job_id: string }>(admissible, values)).rows);
    },
    async lockDue(tx, fence, due, windows) {
      const expected = namedColumns(due, {
        jobIds: (one) => one.jobId,
        versions: (one) => one.version,
        nominals: (one) => timestampParam(one.nominal),
        runsMade: (one) => one.runsMade,
      });
      const values = lockDue.values({ ...fenceValues(fence), ...expected, windowsRevision: windows });
      return ids((await tx.query<{ job_id: string }>(lockDue, values)).rows);
    },
    async lockExpired(tx, fence, paused) {
      const expected = namedColumns(paused, { jobIds: (one) => one.jobId, versions: (one) => one.version });
      const values = lockExpired.values({ ...fenceValues(fence), ...expected });
      return ids((await tx.query<{ job_id: string }>(lockExpired, values)).rows);
    },
    async read(tx, jobIds, wants) {
      return (await tx.query<LockedRow>(read, read.values({ jobIds, withPayload: wants.payload }))).rows.map(
        toLockedJob,
      );
    },
    async live(tx, jobIds, { hold }) {
      type Row = { job_id: string; id: string; state: LiveRunStatus };
      const statement = hold ? holdLive : live;
      const { rows } = await tx.query<Row>(statement, statement.values({ jobIds }));
      return rows.map((row) => ({ jobId: row.job_id, id: row.id, status: row.state }));
    },
    async future(tx, jobs) {
      const columns = namedColumns(jobs, { jobIds: (one) => one.jobId, after: (one) => timestampParam(one.after) });
      type Row = { job_id: string; version: number; reason: LedgerReason; from_at: Instant };
      const { rows } = await tx.query<Row>(lockFuture, lockFuture.values(columns));
      return rows.map(({ job_id: jobId, version, reason, from_at: from }) => ({ jobId, version, reason, from }));
    },
    async holdUntracked(tx, jobId, limit) {
      const values = holdUntracked.values({ jobId, limit });
      return (await tx.query<{ id: string }>(holdUntracked, values)).rows.map((row) => row.id);
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
  const insertRuns = statements.get("job_transaction.insert_runs");
  const endRuns = statements.get("job_transaction.end_runs");
  const stopRuns = statements.get("job_transaction.stop_runs");
  const untrackRuns = statements.get("job_transaction.untrack_runs");
  const move = statements.get("job_transaction.save_due_states");
  const note = statements.get("job_transaction.add_occurrences");
  const shorten = statements.get("job_transaction.shorten_entries");
  const admitRuns = statements.get("job_transaction.admit_runs");
  const ends = (runs: readonly RunEnd[]) => namedColumns(runs, { ids: (run) => run.id, reasons: (run) => run.reason });
  return {
    async insertRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<MadeRow>(insertRuns, insertRuns.values(runColumns(runs)))).rows.map(toMadeRun);
    },
    async endRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<EndedWaiting>(endRuns, endRuns.values(ends(runs)))).rows;
    },
    async stopRuns(tx, runs) {
      if (runs.length === 0) return [];
      const { rows } = await tx.query<{ id: string; session_id: string }>(stopRuns, stopRuns.values(ends(runs)));
      return rows.map((row) => ({ id: row.id, sessionId: row.session_id }));
    },
    async untrackRuns(tx, ids) {
      if (ids.length === 0) return [];
      const { rows } = await tx.query<Queued & { waited: boolean }>(untrackRuns, untrackRuns.values({ ids }));
      return rows.flatMap(({ waited, ...run }) => (waited ? [run] : []));
    },
    async move(tx, moves) {
      if (moves.length === 0) return;
      const { rowCount } = await tx.query(move, move.values(moveColumns(moves)));
      if (rowCount !== moves.length)
        throw new Error(`${move.name} changed ${rowCount} of ${moves.length} rows that this transaction holds`);
    },
    async note(tx, entries) {
      if (entries.length > 0) await tx.query(note, note.values(entryColumns(mergeEntries(entries))));
    },
    async cut(tx, cuts) {
      const { rowCount } = await tx.query(shorten, shorten.values(cutColumns(cuts)));
      if (rowCount !== cuts.length)
        throw new Error(`${shorten.name} changed ${rowCount} of ${cuts.length} entries that this transaction holds`);
    },
    async admitRuns(tx, ids) {
      return ids.length === 0 ? [] : (await tx.query<Queued>(admitRuns, admitRuns.values({ ids }))).rows;
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

function runColumns(runs: readonly NewJobRun[]) {
  return namedColumns(runs, {
    ids: (run) => run.id,
    jobIds: (run) => run.jobId,
    states: (run) => run.state,
    ranks: (run) => run.rank,
    runAt: (run) => timestampParam(run.runAt),
    nominals: (run) => timestampParam(run.nominal),
    triggers: (run) => run.trigger,
    serial: (run) => run.serial,
    untracked: (run) => run.untracked,
    lanes: (run) => run.overrides.lane ?? null,
    queues: (run) => run.overrides.queue ?? null,
    priorities: (run) => run.overrides.priority ?? null,
    payloads: (run) => (run.overrides.payload === undefined ? null : jsonParam(run.overrides.payload.value)),
    policies: (run) => jsonOrNull(run.overrides.policy),
    labels: (run) => jsonOrNull(run.overrides.labels),
    deadlines: (run) => timestampOrNull(run.deadline),
  });
}

function moveColumns(moves: readonly DueMove[]) {
  return namedColumns(moves, {
    jobIds: (one) => one.jobId,
    expectedVersions: (one) => one.expectedVersion,
    versions: (one) => one.due.version,
    states: (one) => one.due.state,
    classes: (one) => one.due.class,
    nextNominals: (one) => timestampOrNull(one.due.nominal),
    nextFires: (one) => timestampOrNull(one.due.fireAt),
    firedThrough: (one) => timestampOrNull(one.due.firedThrough),
    firedCounts: (one) => one.due.firedCount,
    maxRuns: (one) => one.due.maxRuns,
    overlaps: (one) => one.due.overlap,
    runsMade: (one) => one.due.runsMade,
    runIds: (one) => `{${one.due.runIds.join(",")}}`,
    ledgerFrom: (one) => timestampOrNull(one.due.ledgerFrom),
    ledgerReasons: (one) => one.due.ledgerReason,
    catchUpTo: (one) => timestampOrNull(one.due.catchUpTo),
    stateReasons: (one) => one.due.stateReason,
  });
}

export function entryColumns(entries: readonly LedgerEntry[]) {
  return namedColumns(entries, {
    jobIds: (entry) => entry.jobId,
    namespaceIds: (entry) => entry.namespaceId,
    versions: (entry) => entry.version,
    reasons: (entry) => entry.reason,
    fromAt: (entry) => timestampParam(entry.from),
    toAt: (entry) => timestampParam(entry.to),
    counts: (entry) => entry.count,
    details: (entry) => entry.detail,
  });
}

function cutColumns(cuts: readonly LedgerCut[]) {
  return namedColumns(cuts, {
    jobIds: (one) => one.jobId,
    versions: (one) => one.version,
    reasons: (one) => one.reason,
    fromAt: (one) => timestampParam(one.from),
    toAt: (one) => timestampParam(one.to),
    counts: (one) => one.count,
  });
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
