import {
  type DurationMs,
  type FiringPolicy,
  type Instant,
  type JobPause,
  type LedgerReason,
  type ScheduleSpec,
  firingPolicy,
} from "@carillon/core";
import { type Fence, fenceParameters } from "../cluster/shard-store.js";
import { classifyPgError } from "../db/errors.js";
import { columns, jsonParam, timestampOrNull, timestampParam, uuidArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";

/**
 * The next occurrences of jobs, for jobs whose runs neither wait for one another nor replace one another. Reads are hints; a write compares
 * what it was given with the rows as they are, does all or nothing for each of them, and answers those that it did.
 */
export interface DueStore {
  load(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueJob[]>;
  /** For jobs whose overlap policy is allow or skip. */
  fire(terms: Terms, rows: readonly FireRow[]): Promise<Fired[]>;
  /** Answers the jobs that were moved. */
  pass(terms: Terms, rows: readonly PassRow[]): Promise<string[]>;
  /** Answers the jobs that wait now. */
  hold(terms: Terms, rows: readonly HoldRow[]): Promise<string[]>;
  /** Makes due again what waits because of windows of another revision; answers in which shards. */
  release(terms: Terms): Promise<number[]>;
  /** Returns the jobs that are quarantined now. */
  quarantine(fence: Fence, rows: readonly QuarantineRow[]): Promise<string[]>;
}

const maxDefinitions = 20_000;

interface JobId {
  job_id: string;
}

/** Jobs of which the same is true: id and shard of each, with commas between them. */
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

/** Jobs of which the same is true; their ids with commas between them. */
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
  const quarantine = statements.get("due.park");
  return {
    async load(shards, until, limitPerShard) {
      const { rows } = await db.query<LoadedRow>(load, [shards, timestampParam(until), limitPerShard]);
      return rows.flatMap((row) => dueJobs(row, definitions));
    },
    async fire({ fence, windows }, rows) {
      const columnsOfRows = [...fireColumns(rows), ...noteColumns(rows)];
      const ask = async (looks: boolean): Promise<FiredRow[]> => {
        const values = [...fenceParameters(fence), windows, looks, ...columnsOfRows];
        return (await db.query<FiredRow>(fire, values)).rows;
      };
      // A run of the same id is there only if somebody set the job back: to look for one each time costs as much as a tenth of the fire.
      const answers = await ask(false).catch((error: unknown) => {
        if (classifyPgError(error) !== "unique") throw error;
        return ask(true);
      });
      const byJob = new Map(rows.map((row) => [row.job.jobId, row]));
      return answers.flatMap((answer) => firedJobs(answer, byJob));
    },
    async pass({ fence, windows, asOf }, rows) {
      const values = [
        ...fenceParameters(fence),
        windows,
        timestampOrNull(asOf ?? null),
        ...passColumns(rows),
        ...noteColumns(rows),
      ];
      return idsOf((await db.query<JobId>(pass, values)).rows);
    },
    async hold({ fence, windows, asOf }, rows) {
      const held = columns(rows, [
        (row) => row.job.jobId,
        (row) => row.job.version,
        (row) => timestampParam(row.job.nominal),
        (row) => timestampParam(row.until),
      ]);
      return idsOf(
        (await db.query<JobId>(hold, [...fenceParameters(fence), windows, timestampOrNull(asOf ?? null), ...held]))
          .rows,
      );
    },
    async release({ fence, windows }) {
      const { rows } = await db.query<{ shard: number }>(release, [...fenceParameters(fence), windows]);
      return [...new Set(rows.map((row) => row.shard))];
    },
    async quarantine(fence, rows) {
      const quarantined = columns(rows, [
        (row) => row.job.jobId,
        (row) => row.job.version,
        (row) => jsonParam(row.pause),
      ]);
      return idsOf((await db.query<JobId>(quarantine, [...fenceParameters(fence), ...quarantined])).rows);
    },
  };
}

function idsOf(rows: readonly JobId[]): string[] {
  return rows.map((row) => row.job_id);
}

function passColumns(rows: readonly PassRow[]): unknown[] {
  return columns(rows, [
    (row) => row.job.jobId,
    (row) => row.job.version,
    (row) => timestampParam(row.job.nominal),
    (row) => timestampOrNull(row.next?.nominal ?? null),
    (row) => timestampOrNull(row.next?.fireAt ?? null),
    (row) => timestampOrNull(row.catchUpTo),
    (row) => timestampParam(row.range.to),
    (row) => row.range.count,
    (row) => row.range.reason,
    (row) => row.range.detail,
  ]);
}

function noteColumns(rows: readonly { readonly job: DueJob; readonly notes: readonly LedgerRange[] }[]): unknown[] {
  const notes = rows.flatMap(({ job, notes: ranges }) => {
    const { jobId, version, definition } = job;
    return ranges.map((range) => ({ jobId, version, namespaceId: definition.namespaceId, ...range }));
  });
  return columns(notes, [
    (note) => note.jobId,
    (note) => note.namespaceId,
    (note) => note.version,
    (note) => note.reason,
    (note) => timestampParam(note.from),
    (note) => timestampParam(note.to),
    (note) => note.count,
    (note) => note.detail,
  ]);
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
    if (row === undefined) throw new Error(`job ${jobId} was fired and was not asked for`);
    const run = isFired ? { id: row.runId, lane, rank: row.rank, createdAt } : null;
    return { jobId, outcome, run, isLast, runsMade: row.job.runsMade + (isFired ? 1 : 0) };
  });
}

export interface NextTime {
  readonly nominal: Instant;
  readonly fireAt: Instant;
}

/** What the scheduler needs to know of a definition. Equal ones may be one object. */
export interface DueDefinition {
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
  readonly firing: FiringPolicy;
  readonly priority: number;
  readonly task: string;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
  /** From the nominal instant on; for a queue that goes by deadlines. */
  readonly deadlineMs?: DurationMs;
}

/** A job's next occurrence, as the wheel holds it. Stale the moment it is read: whatever acts on it compares again. */
export interface DueJob {
  readonly jobId: string;
  readonly shard: number;
  readonly class: number;
  /** paused: what is due is the end of the pause, which `nominal` and `fireAt` both are. */
  readonly state: "active" | "paused";
  readonly version: number;
  readonly nominal: Instant;
  readonly fireAt: Instant;
  /** Up to here every occurrence has its run or its entry in the ledger, or another definition was in force. */
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

/** Where a job goes after an occurrence (null: nothing is left to fire), and what else is to be noted with it. */
export interface Step {
  readonly job: DueJob;
  readonly next: NextTime | null;
  /** From now on; null leaves what is stored. */
  readonly catchUpTo: Instant | null;
  readonly notes: readonly LedgerRange[];
}

/** One occurrence to become a run. */
export interface FireRow extends Step {
  readonly runId: string;
  readonly rank: number;
}

/** Occurrences that are not fired; `range` begins with the one that is due. */
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

/** fired: its run is queued; blocked: its run waits for others; overlap, duplicate: none was made, the ledger says so. */
export type FireOutcome = "fired" | "blocked" | "overlap" | "duplicate";

/** What became of one row of a fire; a row that is not answered was not due, locked, changed or fenced off. */
export interface Fired {
  readonly jobId: string;
  readonly outcome: FireOutcome;
  /** The run that was made; null when there is none. */
  readonly run: (Queued & { readonly createdAt: Instant }) | null;
  /** max_runs was reached: the job has nothing left to fire. */
  readonly isLast: boolean;
  readonly runsMade: number;
}

/** What every decision over due jobs was made under; a write that finds it changed does nothing. */
export interface Terms {
  readonly fence: Fence;
  /** The revision of the maintenance windows. */
  readonly windows: number;
  /** When it was decided that something is late or has to wait; a store whose clock is well before it passes and holds nothing. */
  readonly asOf?: Instant;
}

/** What a definition is made of, as it is stored. */
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
    // The next reads add those that are still in use again.
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

/** Neighbours in a batch of which everything is the same but the ids; `first` and `last` count from 1. */
interface Group {
  readonly row: FireRow;
  readonly first: number;
  readonly last: number;
}

/**
 * The jobs of a fire as due.fire takes them. A herd has few different next times, and to read an instant costs PostgreSQL more
 * than to read an id: what is the same is said once for all that share it.
 */
export function fireColumns(rows: readonly FireRow[]): (string | Buffer)[] {
  const sorted = rows.toSorted(compare);
  return [
    ...columns(groupsOf(sorted), [
      (group) => group.first,
      (group) => group.last,
      ({ row }) => row.job.version,
      ({ row }) => timestampParam(row.job.nominal),
      ({ row }) => row.job.runsMade,
      ({ row }) => timestampOrNull(row.next?.nominal ?? null),
      ({ row }) => timestampOrNull(row.next?.fireAt ?? null),
      ({ row }) => timestampOrNull(row.catchUpTo),
      ({ row }) => row.rank,
    ]),
    uuidArray(sorted.map((row) => row.job.jobId)),
    uuidArray(sorted.map((row) => row.runId)),
  ];
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
