import type {
  CarillonError,
  FiringPolicy,
  Instant,
  JobState,
  OverlapPolicy,
  RunPolicy,
  StoredSpec,
} from "@carillon/core";
import type { CalendarEdition, CalendarLinks } from "../calendars/calendar-store.js";
import type { Database } from "../db/database.js";
import { jsonOrNull, jsonParam, namedColumns, timestampOrNull } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { DependencyStore, Neighbour, NewDependency } from "../dependencies/dependency-store.js";
import { isRefused, type UpstreamLinks, type WaitingJob } from "../dependencies/upstream-links.js";
import { countRows, estimateRows } from "../history/finished-search.js";
import { type ListPart, type ListPlace, maxScanned } from "../history/history-days.js";
import { labelParams, type RunListFilter } from "../runs/run-filter.js";
import type { LedgerRange } from "../scheduler/due-store.js";
import { pickLines, type Statements } from "../sql/statements.js";
import { entryColumns, type LedgerEntry, type PauseColumn } from "./job-transaction-store.js";

/** A recurring or keyed job with its first due time. */
export interface NewJob extends StoredSpec {
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly class: number;
  readonly state: JobState;
  readonly nextNominal: Instant | null;
  readonly nextFireAt: Instant | null;
  readonly maxRuns: number | null;
  readonly overlap: OverlapPolicy;
  /** Occurrences up to here are fired however late they are. */
  readonly catchUpTo: Instant | null;
  /** The editions with which its next time was computed; absent if its schedule names no calendar. */
  readonly calendars?: readonly CalendarEdition[];
  /** Entries of the ledger for a job without an occurrence: what its calendars removed. Only for a job with `calendars`. */
  readonly removed?: readonly LedgerRange[];
}

/**
 * When it was stored; null: its key is taken. calendar_gone: a calendar that it names has just been deleted. An error: an
 * upstream job does not exist.
 */
export type StoredJob = Instant | null | "calendar_gone" | CarillonError;

export interface JobStore {
  /** The outcome of each job, by id; a missing one has a key that is taken. */
  insert(jobs: readonly NewJob[], tx?: Queryable): Promise<Map<string, StoredJob>>;
  find(namespaceId: number, ids: readonly string[]): Promise<JobRow[]>;
  /** The jobs that it waits for, and those that wait for it; a bounded number of each. */
  neighbours(id: string): Promise<Neighbour[]>;
  /** The job that has the key, else the newest ended one that had it. */
  idOfKey(namespaceId: number, key: string): Promise<string | null>;
  /** The jobs that have these keys now, the newest first. */
  ofKeys(namespaceId: number, keys: readonly string[]): Promise<JobRow[]>;
  list(namespaceId: number, filter: JobListFilter, place: ListPlace): Promise<ListPart<JobRow>>;
  /** The number of jobs: by the planner's statistics, or counted up to a bound. */
  estimate(namespaceId: number, filter: JobListFilter): Promise<number>;
  count(namespaceId: number, filter: JobListFilter, max: number): Promise<number>;
}

export interface JobLinks {
  readonly calendars: CalendarLinks;
  readonly upstreams: UpstreamLinks;
  readonly dependencies: DependencyStore;
}

/** Neighbours of each side. */
const maxNeighbours = 100;

export function jobStore(db: Database, statements: Statements, links: JobLinks): JobStore {
  const insert = statements.get("job.insert");
  const note = statements.get("job_transaction.add_occurrences");
  const find = statements.get("job.find");
  const idOfKey = statements.get("job.id_of_key");
  const ofKeys = statements.get("job.list_by_keys");
  const search = new JobSearch(db, statements);
  const insertOn = async (on: Queryable, jobs: readonly NewJob[]): Promise<Map<string, StoredJob>> => {
    const { rows } = await on.query<{ id: string; created_at: Instant }>(insert, insert.values(insertColumns(jobs)));
    return new Map(rows.map((row) => [row.id, row.created_at]));
  };
  return {
    insert: (jobs, within) => {
      const isPlain = (job: NewJob): boolean => job.calendars === undefined && job.schedule.kind !== "after";
      if (jobs.every(isPlain)) return insertOn(within ?? db, jobs);
      const write = async (tx: Queryable): Promise<Map<string, StoredJob>> => {
        const stored = await insertLinked({ tx, jobs, links, insertOn });
        const removed = jobs.filter(({ id }) => typeof stored.get(id) === "number").flatMap(removedEntries);
        if (removed.length > 0) await tx.query(note, note.values(entryColumns(removed)));
        return stored;
      };
      return within === undefined ? db.transaction(write) : write(within);
    },
    async find(namespaceId, ids) {
      return (await db.query<JobRow>(find, find.values({ namespaceId, ids }))).rows;
    },
    neighbours: (id) => links.dependencies.neighbours(db, id, maxNeighbours),
    async idOfKey(namespaceId, key) {
      return (await db.query<{ id: string }>(idOfKey, idOfKey.values({ namespaceId, key }))).rows[0]?.id ?? null;
    },
    async ofKeys(namespaceId, keys) {
      return (await db.query<JobRow>(ofKeys, ofKeys.values({ namespaceId, keys }))).rows;
    },
    list: (namespaceId, filter, place) => search.page(namespaceId, filter, place),
    estimate: (namespaceId, filter) => search.estimate(namespaceId, filter),
    count: (namespaceId, filter, max) => search.count(namespaceId, filter, max),
  };
}

interface LinkedInsert {
  readonly tx: Queryable;
  readonly jobs: readonly NewJob[];
  readonly links: JobLinks;
  readonly insertOn: (on: Queryable, jobs: readonly NewJob[]) => Promise<Map<string, StoredJob>>;
}

/** A transaction that deletes a calendar or an upstream job waits for its new users, or they find it gone. */
async function insertLinked({ tx, jobs, links, insertOn }: LinkedInsert): Promise<Map<string, StoredJob>> {
  const ids = new Set(jobs.flatMap((job) => (job.calendars ?? []).map((one) => one.id)));
  const pinned = await links.calendars.pin(tx, [...ids]);
  const held = await links.upstreams.resolve(tx, jobs.flatMap(toWaiting));
  const errorOf = (job: NewJob): StoredJob | undefined => {
    const upstreams = held.get(job.id) ?? [];
    if (isRefused(upstreams)) return upstreams;
    return (job.calendars ?? []).every((one) => pinned.has(one.id)) ? undefined : "calendar_gone";
  };
  const isWhole = (job: NewJob): boolean => errorOf(job) === undefined;
  const stored = await insertOn(tx, jobs.filter(isWhole));
  const made = jobs.filter((job) => stored.has(job.id));
  await links.calendars.link(
    tx,
    made.flatMap(({ id: jobId, shard, calendars = [] }) => calendars.map((one) => ({ ...one, jobId, shard }))),
  );
  await links.upstreams.link(
    tx,
    made.flatMap(({ id }) => (held.get(id) ?? []) as readonly NewDependency[]),
  );
  for (const job of jobs) {
    const error = errorOf(job);
    if (error !== undefined) stored.set(job.id, error);
  }
  return stored;
}

function removedEntries({ id: jobId, namespaceId, removed = [] }: NewJob): LedgerEntry[] {
  return removed.map((range) => ({ jobId, namespaceId, version: 1, ...range }));
}

function toWaiting({ id, namespaceId, shard, schedule }: NewJob): WaitingJob[] {
  return schedule.kind === "after" ? [{ id, namespaceId, shard, schedule }] : [];
}

function insertColumns(jobs: readonly NewJob[]) {
  return namedColumns(jobs, {
    ids: (job) => job.id,
    namespaceIds: (job) => job.namespaceId,
    shards: (job) => job.shard,
    lanes: (job) => job.lane,
    keys: (job) => job.key,
    tasks: (job) => job.task,
    queues: (job) => job.queue,
    priorities: (job) => job.priority,
    payloads: (job) => jsonParam(job.payload),
    schedules: (job) => jsonParam(job.schedule),
    policies: (job) => jsonOrNull(job.policy),
    labels: (job) => jsonParam(job.labels),
    owners: (job) => job.owner,
    classes: (job) => job.class,
    nextNominals: (job) => timestampOrNull(job.nextNominal),
    nextFires: (job) => timestampOrNull(job.nextFireAt),
    maxRuns: (job) => job.maxRuns,
    states: (job) => job.state,
    firings: (job) => jsonOrNull(job.firing),
    overlaps: (job) => job.overlap,
    catchUpTo: (job) => timestampOrNull(job.catchUpTo),
  });
}

/** A stored job with its due state, as readers get it. */
export interface JobRow extends Omit<StoredSpec, "policy" | "firing"> {
  readonly id: string;
  readonly policy: RunPolicy | null;
  readonly version: number;
  readonly firing: Partial<FiringPolicy> | null;
  readonly pause: PauseColumn | null;
  readonly created_at: Instant;
  readonly updated_at: Instant;
  readonly defined_at: Instant | null;
  readonly state: JobState;
  readonly next_fire_at: Instant | null;
  readonly fired_through: Instant | null;
  /** Runs that may be live, the newest last. */
  readonly run_ids: readonly string[];
  /** Other jobs wait for its runs; only when a single job is read. */
  readonly has_downstream?: boolean | null;
}

export type JobListFilter = Omit<RunListFilter, "status" | "jobId" | "workerId" | "trigger" | "oneOffOnly">;

/** The index that is scanned; each returns its rows in the order of the list. */
type ScanIndex = "any" | "task" | "queue" | "owner" | "labels";

/** Stored jobs by filter, as FinishedSearch does it for runs. */
class JobSearch {
  readonly #db: Queryable;
  readonly #statements: Statements;

  constructor(db: Queryable, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  async page(namespaceId: number, filter: JobListFilter, place: ListPlace): Promise<ListPart<JobRow>> {
    const { after, limit, direction } = place;
    const index = await this.#bestIndex(namespaceId, filter);
    const list = this.#statements.get("job.list");
    const values = { namespaceId, afterId: after, ...conditions(filter), maxScanned };
    const { rows } = await this.#db.query<JobRow>(pickLines(list, direction, index), list.values({ ...values, limit }));
    if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
    const end = this.#statements.get("job.scan_end");
    const scanned = await this.#db.query<{ id: string }>(pickLines(end, direction, index), end.values(values));
    return { rows, edge: scanned.rows[0]?.id ?? null };
  }

  estimate(namespaceId: number, filter: JobListFilter): Promise<number> {
    const matching = this.#statements.get("job.list_matching");
    return estimateRows(this.#db, matching, matching.values({ namespaceId, ...conditions(filter), max: null }));
  }

  count(namespaceId: number, filter: JobListFilter, max: number): Promise<number> {
    const matching = this.#statements.get("job.list_matching");
    return countRows(this.#db, matching, matching.values({ namespaceId, ...conditions(filter), max }));
  }

  async #bestIndex(namespaceId: number, filter: JobListFilter): Promise<ScanIndex> {
    const indexes = indexesFor(filter);
    const [only = "any"] = indexes;
    if (indexes.length <= 1 && only !== "labels") return only;
    const estimate = this.#statements.get("job.scan_estimate");
    const values = estimate.values({ namespaceId, ...conditions(filter) });
    const costs = await Promise.all(indexes.map((index) => estimateRows(this.#db, pickLines(estimate, index), values)));
    const fewest = Math.min(...costs);
    const best = indexes[costs.indexOf(fewest)] ?? only;
    return best === "labels" && fewest > maxScanned ? "any" : best;
  }
}

function indexesFor({ task, queue, owner, labels }: JobListFilter): ScanIndex[] {
  const indexes: (ScanIndex | false)[] = [
    task !== undefined && "task",
    queue !== undefined && "queue",
    owner !== undefined && "owner",
    labelParams(labels)[0] !== null && "labels",
  ];
  return indexes.filter((index) => index !== false);
}

function conditions({ task, queue, owner, createdFrom, createdBefore, labels }: JobListFilter) {
  const [indexed, others] = labelParams(labels);
  return {
    task: task ?? null,
    queue: queue ?? null,
    owner: owner ?? null,
    createdFrom: timestampOrNull(createdFrom ?? null),
    createdBefore: timestampOrNull(createdBefore ?? null),
    labels: indexed,
    otherLabels: others,
  };
}
