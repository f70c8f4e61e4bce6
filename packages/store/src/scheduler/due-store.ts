import {
  type DurationMs,
  type FiringPolicy,
  type Instant,
  type JobPause,
  type LedgerReason,
  type ScheduleSpec,
  firingPolicy,
} from "@carillon/core";
import { type Fence, fenceValues } from "../cluster/shard-store.js";
import { classifyPgError } from "../db/errors.js";
import { jsonParam, namedColumns, timestampOrNull, timestampParam, uuidArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";

/**
 * The next occurrences of jobs, for jobs whose runs neither wait for one another nor replace one another. Reads are hints; a write compares
 * its rows with the stored ones, does all or nothing for each of them, and returns those that it did.
 */
export interface DueStore {
  load(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueJob[]>;
  /** For jobs whose overlap policy is allow or skip. */
  fire(terms: Terms, rows: readonly FireRow[]): Promise<Fired[]>;
  /** Returns the jobs that were moved. */
  pass(terms: Terms, rows: readonly PassRow[]): Promise<string[]>;
  /** Returns the jobs that wait now. */
  hold(terms: Terms, rows: readonly HoldRow[]): Promise<string[]>;
  /** Makes occurrences due again that wait because of another revision of the windows; returns their shards. */
  release(terms: Terms): Promise<number[]>;
  /** Returns the jobs that are quarantined now. */
  quarantine(fence: Fence, rows: readonly QuarantineRow[]): Promise<string[]>;
}

const maxDefinitions = 20_000;

interface JobId {
  job_id: string;
}

/** Jobs that differ only in id and shard: `jobs` has both of each, separated by commas. */
interface LoadedRow extends DefinitionTexts {
  jobs: string;
  class: number;
  state: "active" | "paused";
  version: number;
  next_nominal_at: Instant | null;
  next_fire_at: Instant;
  runs_made: number;
  catch_up_to: Instant | null;
  settled_to: Instant;
}

/** Jobs with the same outcome; their ids are separated by commas. */
interface FiredRow {
  job_ids: string;
  outcome: "fired" | "overlap" | "duplicate";
  is_last: boolean;
  lane: number;
  created_at: Instant;
}

export function dueStore(db: Queryable, statements: Statements): DueStore {
  const definitions = new DefinitionCache(maxDefinitions);
  const load = statements.get("due.load");
  const fire = statements.get("due.fire");
  const pass = statements.get("due.pass");
  const hold = statements.get("due.hold");
  const release = statements.get("due.release");
  const quarantine = statements.get("due.quarantine");
  return {
    async load(shards, until, limitPerShard) {
      const values = load.values({ shards, until: timestampParam(until), limitPerShard });
      const { rows } = await db.query<LoadedRow>(load, values);
      return rows.flatMap((row) => dueJobs(row, definitions));
    },
    async fire({ fence, windows }, rows) {
      const terms = { ...fenceValues(fence), windowsRevision: windows };
      const occurrences = { ...fireColumns(rows), ...noteColumns(rows) };
      const send = async (checksDuplicates: boolean): Promise<FiredRow[]> => {
        const values = fire.values({ ...terms, checksDuplicates, ...occurrences });
        return (await db.query<FiredRow>(fire, values)).rows;
      };
      // A run of the same id exists only if a change set the job back: a check for one costs a tenth of the fire.
      const answers = await send(false).catch((error: unknown) => {
        if (classifyPgError(error) !== "unique") throw error;
        return send(true);
      });
      const byJob = new Map(rows.map((row) => [row.job.jobId, row]));
      return answers.flatMap((answer) => firedJobs(answer, byJob));
    },
    async pass({ fence, windows, asOf }, rows) {
      const terms = { ...fenceValues(fence), windowsRevision: windows, decidedAt: timestampOrNull(asOf ?? null) };
      const values = pass.values({ ...terms, ...passColumns(rows), ...noteColumns(rows) });
      return idsOf((await db.query<JobId>(pass, values)).rows);
    },
    async hold({ fence, windows, asOf }, rows) {
      const terms = { ...fenceValues(fence), windowsRevision: windows, decidedAt: timestampOrNull(asOf ?? null) };
      const held = namedColumns(rows, {
        jobIds: (row) => row.job.jobId,
        versions: (row) => row.job.version,
        nominals: (row) => timestampParam(row.job.nominal),
        until: (row) => timestampParam(row.until),
      });
      return idsOf((await db.query<JobId>(hold, hold.values({ ...terms, ...held }))).rows);
    },
    async release({ fence, windows }) {
      const values = release.values({ ...fenceValues(fence), windowsRevision: windows });
      const { rows } = await db.query<{ shard: number }>(release, values);
      return [...new Set(rows.map((row) => row.shard))];
    },
    async quarantine(fence, rows) {
      const poison = namedColumns(rows, {
        jobIds: (row) => row.job.jobId,
        versions: (row) => row.job.version,
        pauses: (row) => jsonParam(row.pause),
      });
      const values = quarantine.values({ ...fenceValues(fence), ...poison });
      return idsOf((await db.query<JobId>(quarantine, values)).rows);
    },
  };
}

function idsOf(rows: readonly JobId[]): string[] {
  return rows.map((row) => row.job_id);
}

function passColumns(rows: readonly PassRow[]) {
  return namedColumns(rows, {
    jobIds: (row) => row.job.jobId,
    versions: (row) => row.job.version,
    nominals: (row) => timestampParam(row.job.nominal),
    nextNominals: (row) => timestampOrNull(row.next?.nominal ?? null),
    nextFires: (row) => timestampOrNull(row.next?.fireAt ?? null),
    catchUpTo: (row) => timestampOrNull(row.catchUpTo),
    through: (row) => timestampParam(row.range.to),
    counts: (row) => row.range.count,
    reasons: (row) => row.range.reason,
    details: (row) => row.range.detail,
  });
}

function noteColumns(rows: readonly { readonly job: DueJob; readonly notes: readonly LedgerRange[] }[]) {
  const notes = rows.flatMap(({ job, notes: ranges }) => {
    const { jobId, version, definition } = job;
    return ranges.map((range) => ({ jobId, version, namespaceId: definition.namespaceId, ...range }));
  });
  return namedColumns(notes, {
    noteJobIds: (note) => note.jobId,
    noteNamespaceIds: (note) => note.namespaceId,
    noteVersions: (note) => note.version,
    noteReasons: (note) => note.reason,
    noteFrom: (note) => timestampParam(note.from),
    noteTo: (note) => timestampParam(note.to),
    noteCounts: (note) => note.count,
    noteDetails: (note) => note.detail,
  });
}

const uuidLength = 36;

function dueJobs(row: LoadedRow, definitions: DefinitionCache): DueJob[] {
  const definition = definitions.of(row);
  return row.jobs.split(",").map((job) => ({
    jobId: job.slice(0, uuidLength),
    shard: Number(job.slice(uuidLength)),
    class: row.class,
    state: row.state,
    version: row.version,
    nominal: row.next_nominal_at ?? row.next_fire_at,
    fireAt: row.next_fire_at,
    settledTo: row.settled_to,
    catchUpTo: row.catch_up_to,
    runsMade: row.runs_made,
    definition,
  }));
}

function firedJobs(answer: FiredRow, byJob: ReadonlyMap<string, FireRow>): Fired[] {
  const { outcome, is_last: isLast, lane, created_at: createdAt } = answer;
  const isFired = outcome === "fired";
  return answer.job_ids.split(",").map((jobId) => {
    const row = byJob.get(jobId);
    if (row === undefined) throw new Error(`job ${jobId} was fired and was not requested`);
    const run = isFired ? { id: row.runId, lane, rank: row.rank, createdAt } : null;
    return { jobId, outcome, run, isLast, runsMade: row.job.runsMade + (isFired ? 1 : 0) };
  });
}

export interface NextTime {
  readonly nominal: Instant;
  readonly fireAt: Instant;
}

/** The part of a definition that the scheduler needs. Equal ones may be one object. */
export interface DueDefinition {
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
  readonly firing: FiringPolicy;
  readonly priority: number;
  readonly task: string;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Counted from the nominal instant; for a queue that is ordered by deadlines. */
  readonly deadlineMs?: DurationMs;
}

/** The next occurrence of a job, as the wheel holds it. It may be stale as soon as it is read: each write compares again. */
export interface DueJob {
  readonly jobId: string;
  readonly shard: number;
  readonly class: number;
  /** paused: the end of the pause is due; `nominal` and `fireAt` are both that instant. */
  readonly state: "active" | "paused";
  readonly version: number;
  readonly nominal: Instant;
  readonly fireAt: Instant;
  /** Every occurrence up to here has its run or its entry in the ledger, or another definition was in force. */
  readonly settledTo: Instant;
  /** Occurrences up to here are fired however late they are. */
  readonly catchUpTo: Instant | null;
  readonly runsMade: number;
  readonly definition: DueDefinition;
}

/** Occurrences without a run, from the first to the last, both included. */
export interface LedgerRange {
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

/** The next time of a job after an occurrence (null: nothing is left to fire), with further entries for the ledger. */
export interface Step {
  readonly job: DueJob;
  readonly next: NextTime | null;
  /** null leaves the stored value. */
  readonly catchUpTo: Instant | null;
  readonly notes: readonly LedgerRange[];
}

/** One occurrence to become a run. */
export interface FireRow extends Step {
  readonly runId: string;
  readonly rank: number;
}

/** Occurrences that are not fired; `range` begins with the due one. */
export interface PassRow extends Step {
  readonly range: LedgerRange;
}

/** An occurrence that waits. */
export interface HoldRow {
  readonly job: DueJob;
  readonly until: Instant;
}

/** A job that cannot be fired. */
export interface QuarantineRow {
  readonly job: DueJob;
  readonly pause: JobPause;
}

/** fired: its run is queued; blocked: its run waits for others; overlap, duplicate: no run was made, the ledger has an entry. */
export type FireOutcome = "fired" | "blocked" | "overlap" | "duplicate";

/** The outcome of one row of a fire; a row without one was not due, locked, changed or fenced off. */
export interface Fired {
  readonly jobId: string;
  readonly outcome: FireOutcome;
  /** The run that was made; null: there is none. */
  readonly run: (Queued & { readonly createdAt: Instant }) | null;
  /** max_runs was reached: the job has nothing left to fire. */
  readonly isLast: boolean;
  readonly runsMade: number;
}

/** The conditions under which due jobs were decided; a write that finds them changed does nothing. */
export interface Terms {
  readonly fence: Fence;
  /** The revision of the maintenance windows. */
  readonly windows: number;
  /** When the caller decided, by its clock, that occurrences are late or have to wait; a store whose clock is well before passes and holds nothing. */
  readonly asOf?: Instant;
}

/** The stored columns of a definition. */
export interface DefinitionTexts {
  readonly namespace_id: number;
  readonly schedule: string;
  readonly firing: string | null;
  readonly priority: number;
  readonly task: string;
  readonly queue: string;
  readonly labels: string;
  readonly deadline_ms: number | null;
}

/** Equal definitions become one object: a herd of a hundred thousand jobs has few different ones. */
class DefinitionCache {
  readonly #limit: number;
  readonly #known = new Map<string, DueDefinition>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(texts: DefinitionTexts): DueDefinition {
    const {
      namespace_id: namespaceId,
      priority,
      task,
      queue,
      schedule,
      firing,
      labels,
      deadline_ms: deadlineMs,
    } = texts;
    const key = `${namespaceId} ${priority} ${deadlineMs} ${queue}\n${task}\n${schedule}\n${firing}\n${labels}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // The next reads add the definitions that are still in use.
    if (this.#known.size >= this.#limit) this.#known.clear();
    const definition: DueDefinition = {
      namespaceId,
      schedule: JSON.parse(schedule) as ScheduleSpec,
      firing: firingPolicy(firing === null ? {} : (JSON.parse(firing) as Partial<FiringPolicy>)),
      priority,
      task,
      queue,
      labels: JSON.parse(labels) as Record<string, string>,
      ...(deadlineMs !== null && { deadlineMs }),
    };
    this.#known.set(key, definition);
    return definition;
  }
}

/** Neighbours in a batch that differ only in the ids; `first` and `last` count from 1. */
interface Group {
  readonly row: FireRow;
  readonly first: number;
  readonly last: number;
}

/**
 * The jobs of a fire as due.fire takes them. A herd has few different next times, and PostgreSQL needs more time to read an instant than an
 * id: a value that jobs share is sent once.
 */
export function fireColumns(rows: readonly FireRow[]) {
  const sorted = rows.toSorted(compare);
  const shared = namedColumns(groupsOf(sorted), {
    firsts: (group) => group.first,
    lasts: (group) => group.last,
    versions: ({ row }) => row.job.version,
    nominals: ({ row }) => timestampParam(row.job.nominal),
    runsMade: ({ row }) => row.job.runsMade,
    nextNominals: ({ row }) => timestampOrNull(row.next?.nominal ?? null),
    nextFires: ({ row }) => timestampOrNull(row.next?.fireAt ?? null),
    catchUpTo: ({ row }) => timestampOrNull(row.catchUpTo),
    ranks: ({ row }) => row.rank,
  });
  const ids = {
    jobIds: uuidArray(sorted.map((row) => row.job.jobId)),
    runIds: uuidArray(sorted.map((row) => row.runId)),
  };
  return { ...shared, ...ids };
}

function groupsOf(sorted: readonly FireRow[]): Group[] {
  const groups: Group[] = [];
  let start = 0;
  for (const [index, row] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && compare(row, next) === 0) continue;
    groups.push({ row, first: start + 1, last: index + 1 });
    start = index + 1;
  }
  return groups;
}

/** Zero for rows of one group. */
function compare(a: FireRow, b: FireRow): number {
  return (
    a.job.nominal - b.job.nominal ||
    (a.next?.fireAt ?? -1) - (b.next?.fireAt ?? -1) ||
    (a.next?.nominal ?? -1) - (b.next?.nominal ?? -1) ||
    a.rank - b.rank ||
    a.job.runsMade - b.job.runsMade ||
    a.job.version - b.job.version ||
    (a.catchUpTo ?? -1) - (b.catchUpTo ?? -1)
  );
}
