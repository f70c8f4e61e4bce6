import {
  type CalendarDefinition,
  type Instant,
  type JobSpec,
  type TraceContext,
  deadlineOf,
  occurrenceRunId,
  storedLabels,
} from "@carillon/core";
import type { CalendarEdition } from "../calendars/calendar-store.js";
import { type Fence, fenceValues } from "../cluster/shard-store.js";
import { jsonOrNull, jsonParam, namedColumns, shardArray, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import {
  type LedgerEntry,
  type MadeJobRun,
  type MadeRow,
  type NewJobRun,
  entryColumns,
  toMadeRun,
} from "../jobs/job-transaction-store.js";
import type { Statements } from "../sql/statements.js";

/** A backfill whose next step is due. */
export interface DueBackfill {
  readonly id: string;
  readonly jobId: string;
  readonly shard: number;
}

/** A backfill whose row this transaction has locked. */
export interface HeldBackfill extends BackfillView {
  readonly nextStepAt: Instant;
  /** Runs of the backfill that may be live. */
  readonly runIds: readonly string[];
  /** The trace of its runs. */
  readonly trace: TraceContext | null;
}

export interface NewBackfill extends BackfillRequest {
  readonly id: string;
  readonly jobId: string;
  readonly total: number;
  readonly actor: string | null;
  readonly trace?: TraceContext | undefined;
}

/** The state of a backfill after a step. */
export interface BackfillStep {
  readonly through: Instant | null;
  readonly made: number;
  readonly passed: number;
  readonly skipped: number;
  readonly runIds: readonly string[];
  readonly nextStepAt: Instant;
  readonly state: BackfillView["state"];
  readonly reason: string | null;
}

/** Writes run in the caller's transaction; a step holds the lock of the row of job_due. */
export interface BackfillStore {
  insert(tx: Queryable, backfill: NewBackfill): Promise<BackfillView>;
  find(namespaceId: number, id: string): Promise<BackfillView | null>;
  list(jobId: string, before: string | null, limit: number): Promise<BackfillView[]>;
  /** null: there is no running one. */
  abort(namespaceId: number, id: string, reason: string): Promise<BackfillView | null>;
  abortOfJob(tx: Queryable, jobId: string, reason: string): Promise<void>;
  due(shards: readonly number[], now: Instant, limit: number): Promise<DueBackfill[]>;
  anyRunning(shards: readonly number[]): Promise<boolean>;
  /** false: another transaction holds the job, or this node no longer owns the shard. */
  lockJob(tx: Queryable, fence: Fence, jobId: string): Promise<boolean>;
  /** null: it has ended. */
  hold(tx: Queryable, id: string): Promise<HeldBackfill | null>;
  live(tx: Queryable, runIds: readonly string[]): Promise<string[]>;
  /** Throws if the row changed since it was locked. */
  step(tx: Queryable, held: HeldBackfill, step: BackfillStep): Promise<void>;
}

export function backfillStore(db: Queryable, statements: Statements): BackfillStore {
  return { ...backfillReads(db, statements), ...backfillWrites(db, statements), ...backfillLocks(statements) };
}

type Reads = Pick<BackfillStore, "find" | "list" | "due" | "anyRunning">;

function backfillReads(db: Queryable, statements: Statements): Reads {
  const find = statements.get("backfill.find");
  const list = statements.get("backfill.list");
  const due = statements.get("backfill.list_due");
  const running = statements.get("backfill.any_running");
  return {
    async find(namespaceId, id) {
      const [row] = (await db.query<BackfillRow>(find, find.values({ namespaceId, id }))).rows;
      return row === undefined ? null : toView(row);
    },
    async list(jobId, before, limit) {
      return (await db.query<BackfillRow>(list, list.values({ jobId, beforeId: before, limit }))).rows.map(toView);
    },
    async due(shards, now, limit) {
      const values = due.values({ shards: shardArray(shards), now: timestampParam(now), limit });
      const { rows } = await db.query<{ id: string; job_id: string; shard: number }>(due, values);
      return rows.map((row) => ({ id: row.id, jobId: row.job_id, shard: row.shard }));
    },
    async anyRunning(shards) {
      const values = running.values({ shards: shardArray(shards) });
      return (await db.query<{ any: boolean }>(running, values)).rows[0]?.any ?? false;
    },
  };
}

type Writes = Pick<BackfillStore, "insert" | "abort" | "abortOfJob" | "step">;

function backfillWrites(db: Queryable, statements: Statements): Writes {
  const insert = statements.get("backfill.insert");
  const abort = statements.get("backfill.abort");
  const abortOfJob = statements.get("backfill.abort_all_of_job");
  const step = statements.get("backfill.step");
  return {
    async insert(tx, { from, to, trace, ...backfill }) {
      const range = { fromAt: timestampParam(from), toAt: timestampParam(to) };
      const values = insert.values({ ...backfill, ...range, trace: jsonOrNull(trace) });
      const [row] = (await tx.query<BackfillRow>(insert, values)).rows;
      if (row === undefined)
        throw new Error(`backfill.insert found no job ${backfill.jobId} that this transaction holds`);
      return toView(row);
    },
    async abort(namespaceId, id, reason) {
      const [row] = (await db.query<BackfillRow>(abort, abort.values({ namespaceId, id, reason }))).rows;
      return row === undefined ? null : toView(row);
    },
    async abortOfJob(tx, jobId, reason) {
      await tx.query(abortOfJob, abortOfJob.values({ jobId, reason }));
    },
    async step(tx, held, { through, nextStepAt, runIds, ...done }) {
      const values = step.values({
        ...done,
        id: held.id,
        expectedThrough: timestampOrNull(held.through),
        through: timestampOrNull(through),
        runIds: done.state === "running" ? runIds : [],
        nextStepAt: timestampParam(nextStepAt),
      });
      const { rowCount } = await tx.query(step, values);
      if (rowCount !== 1) throw new Error(`backfill.step changed ${rowCount} rows of one that this transaction holds`);
    },
  };
}

type Locks = Pick<BackfillStore, "lockJob" | "hold" | "live">;

function backfillLocks(statements: Statements): Locks {
  const lockJob = statements.get("backfill.lock_job");
  const hold = statements.get("backfill.lock_running");
  const live = statements.get("backfill.list_live_runs");
  return {
    async lockJob(tx, fence, jobId) {
      return (await tx.query(lockJob, lockJob.values({ ...fenceValues(fence), jobId }))).rowCount === 1;
    },
    async hold(tx, id) {
      const [row] = (await tx.query<BackfillRow>(hold, hold.values({ id }))).rows;
      return row === undefined ? null : toHeld(row);
    },
    async live(tx, runIds) {
      if (runIds.length === 0) return [];
      return (await tx.query<{ id: string }>(live, live.values({ ids: runIds }))).rows.map((row) => row.id);
    },
  };
}

interface BackfillRow {
  id: string;
  job_id: string;
  state: BackfillView["state"];
  state_reason: string | null;
  from_at: Instant;
  to_at: Instant;
  through_at: Instant | null;
  next_step_at: Instant;
  per_second: number;
  concurrency: number;
  repeats: boolean;
  force: boolean;
  total: number;
  made: number;
  passed: number;
  skipped: number;
  run_ids: string[];
  actor: string | null;
  created_at: Instant;
  finished_at: Instant | null;
  trace: TraceContext | null;
}

function toHeld(row: BackfillRow): HeldBackfill {
  return { ...toView(row), nextStepAt: row.next_step_at, runIds: row.run_ids, trace: row.trace };
}

function toView(row: BackfillRow): BackfillView {
  const { id, state, concurrency, repeats, force, total, made, passed, skipped, actor } = row;
  return {
    id,
    jobId: row.job_id,
    state,
    reason: row.state_reason,
    from: row.from_at,
    to: row.to_at,
    perSecond: row.per_second,
    concurrency,
    repeats,
    force,
    total,
    made,
    passed,
    skipped,
    through: row.through_at,
    actor,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

export interface BackfillRequest {
  /** The first and the last instant, both included. */
  readonly from: Instant;
  readonly to: Instant;
  readonly perSecond: number;
  /** The most runs of this backfill that are live at the same time. */
  readonly concurrency: number;
  /** Also makes runs for instants that have one, by the schedule or by another backfill. */
  readonly repeats: boolean;
  /** Ignores the overlap policy. */
  readonly force: boolean;
}

export interface BackfillView extends BackfillRequest {
  readonly id: string;
  readonly jobId: string;
  /** done: every instant is decided; runs may still be live. */
  readonly state: "running" | "done" | "aborted";
  /** Why it was aborted; null: it was not. */
  readonly reason: string | null;
  /** Instants of the range, counted at the start. */
  readonly total: number;
  readonly made: number;
  /** Instants passed because they ran already. */
  readonly passed: number;
  /** Instants refused by the overlap policy. */
  readonly skipped: number;
  /** The last decided instant; null before the first step. */
  readonly through: Instant | null;
  readonly actor: string | null;
  readonly createdAt: Instant;
  readonly finishedAt: Instant | null;
}

/** The most instants of one backfill; a larger range is refused with backfill_invalid. */
export const maxBackfilled = 1_000_000;

/** A definition that has been replaced, in force up to and including `through`. */
export interface PastDefinition {
  readonly version: number;
  readonly spec: JobSpec;
  readonly through: Instant;
}

/** A calendar as it was; `through` is null for the version that is in force. */
export interface PastCalendar extends CalendarEdition {
  readonly name: string;
  readonly definition: CalendarDefinition;
  readonly through: Instant | null;
}

/** The definition from which runs of the past are made. */
export interface RunSource {
  readonly jobId: string;
  readonly version: number;
  readonly lane: number;
  readonly spec: JobSpec;
}

/** Past definitions, calendars and runs, and runs made for past instants. Writes hold the lock of the row of job_due. */
export interface PastRuns {
  /** The definition in force right after the instant, if it has been replaced since. The oldest one applies to all earlier instants. */
  definitionAt(db: Queryable, jobId: string, after: Instant): Promise<PastDefinition | null>;
  calendarsAt(db: Queryable, namespaceId: number, names: readonly string[], after: Instant): Promise<PastCalendar[]>;
  /** The instants, in their order, that have a run by the schedule or by a backfill. */
  ran(tx: Queryable, jobId: string, instants: readonly Instant[]): Promise<Set<Instant>>;
  insertRuns(tx: Queryable, runs: readonly NewJobRun[], source: RunSource): Promise<MadeJobRun[]>;
  note(tx: Queryable, entries: readonly LedgerEntry[]): Promise<void>;
}

/** The end of a run is recorded by the database's clock, and a node's clock may make an instant early. */
const slackMs = 3_600_000;

export function pastRuns(statements: Statements): PastRuns {
  return { ...pastReads(statements), ...pastWrites(statements) };
}

function pastReads(statements: Statements): Pick<PastRuns, "definitionAt" | "calendarsAt" | "ran"> {
  const definitionAt = statements.get("backfill.definition_at");
  const calendarsAt = statements.get("backfill.calendars_at");
  const ran = statements.get("backfill.ran");
  return {
    async definitionAt(db, jobId, after) {
      type Row = { version: number; definition: JobSpec; valid_to: Instant };
      const [row] = (await db.query<Row>(definitionAt, definitionAt.values({ jobId, after: timestampParam(after) })))
        .rows;
      return row === undefined ? null : { version: row.version, spec: row.definition, through: row.valid_to };
    },
    async calendarsAt(db, namespaceId, names, after) {
      type Row = Omit<PastCalendar, "through"> & { valid_to: Instant | null };
      const values = calendarsAt.values({ namespaceId, names, after: timestampParam(after) });
      const { rows } = await db.query<Row>(calendarsAt, values);
      return rows.map(({ valid_to: through, ...calendar }) => ({ ...calendar, through }));
    },
    async ran(tx, jobId, instants) {
      const [first, last] = [instants[0], instants.at(-1)];
      if (first === undefined || last === undefined) return new Set();
      const values = ran.values({
        jobId,
        ...namedColumns(instants, { instants: timestampParam }),
        scheduledRunIds: instants.map((one) => occurrenceRunId(jobId, one, "schedule")),
        lowestId: lowestId(first),
        aboveHighestId: lowestId(last + 1),
        notBefore: timestampParam(Math.max(0, first - slackMs)),
      });
      const { rows } = await tx.query<{ nominal_at: Instant }>(ran, values);
      return new Set(rows.map((row) => row.nominal_at));
    },
  };
}

function pastWrites(statements: Statements): Pick<PastRuns, "insertRuns" | "note"> {
  const insertRuns = statements.get("backfill.insert_runs");
  const note = statements.get("backfill.add_occurrences");
  return {
    async insertRuns(tx, runs, { jobId, version, lane, spec }) {
      if (runs.length === 0) return [];
      const { task, queue, priority, payload, policy, labels, owner = null } = spec;
      const runColumns = namedColumns(runs, {
        ids: (run) => run.id,
        states: (run) => run.state,
        ranks: (run) => run.rank,
        runAt: (run) => timestampParam(run.runAt),
        nominals: (run) => timestampParam(run.nominal),
        triggers: (run) => run.trigger,
        serial: (run) => run.serial,
        untracked: (run) => run.untracked,
        deadlines: (run) => timestampOrNull(deadlineOf(policy, run.runAt)),
      });
      const values = insertRuns.values({
        ...runColumns,
        jobId,
        version,
        lane,
        task,
        queue,
        priority,
        payload: jsonParam(payload),
        policy: jsonOrNull(policy),
        labels: jsonOrNull(storedLabels({ labels, policy, payload })),
        owner,
      });
      const { rows } = await tx.query<MadeRow>(insertRuns, values);
      return rows.map(toMadeRun);
    },
    async note(tx, entries) {
      if (entries.length > 0) await tx.query(note, note.values(entryColumns(entries)));
    },
  };
}

/** Below every UUIDv7 of this instant. */
export function lowestId(instant: Instant): string {
  const digits = instant.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
