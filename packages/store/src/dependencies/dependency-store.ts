import {
  type AfterSchedule,
  type Instant,
  type JobState,
  type MissedChoice,
  noteLimits,
  type RunError,
  timeOfUuid,
  type TraceContext,
} from "@carillon/core";
import { namedColumns, shardArray, timestampOrNull, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { clockSlackMs } from "../runs/run-filter.js";
import type { Statements } from "../sql/statements.js";

export type AwaitedEnd = AfterSchedule["after"][number]["on"];

/** A job waits for the runs of another job. */
export interface NewDependency {
  readonly jobId: string;
  readonly position: number;
  readonly namespaceId: number;
  /** The shard of the waiting job. */
  readonly shard: number;
  readonly upstreamId: string;
  readonly on: AwaitedEnd;
  readonly when: string | null;
}

/** The same with its progress. */
export interface Dependency extends Pick<NewDependency, "jobId" | "position" | "upstreamId" | "on" | "when"> {
  /** The latest run of the upstream job that fits, since the last fire of the waiting job. */
  readonly metRunId: string | null;
  readonly metAt: Instant | null;
  /** The end of the latest processed run, whether it fits or not. */
  readonly lastEndAt: Instant | null;
}

/** The end of a run of an upstream job that the waiting job has not processed. */
export interface UpstreamEnd {
  readonly jobId: string;
  readonly position: number;
  readonly runId: string;
  /** null: the run did not end, its row was deleted for another reason. */
  readonly status: "succeeded" | "failed" | "cancelled" | "skipped" | null;
  readonly reason: string | null;
  readonly attempt: number | null;
  readonly output: unknown;
  readonly error: unknown;
  readonly payload: unknown;
  readonly endedAt: Instant;
  /** The trace of the run; the run that it starts continues it. */
  readonly trace: TraceContext | null;
}

export interface Neighbour {
  readonly side: "upstream" | "downstream";
  readonly jobId: string;
  readonly key: string | null;
  readonly on: AwaitedEnd;
  readonly when: string | null;
  readonly metRunId: string | null;
  readonly metAt: Instant | null;
  readonly state: JobState;
}

/** Ends that a job has not processed: `count` of them in a span. */
export interface PendingEnds {
  readonly count: number;
  readonly from: Instant;
  readonly to: Instant;
}

/** The dependencies between jobs. Writes run in the caller's transaction, with the waiting jobs locked. */
export interface DependencyStore {
  resolve(tx: Queryable, namespaceId: number, names: JobNames): Promise<{ id: string; key: string | null }[]>;
  /** Marks jobs and their live runs: each end is stored for the waiting jobs. The jobs must be locked; returns those that have not ended. */
  markUpstream(tx: Queryable, upstreamIds: readonly string[]): Promise<string[]>;
  link(tx: Queryable, dependencies: readonly NewDependency[]): Promise<void>;
  unlink(tx: Queryable, jobIds: readonly string[]): Promise<void>;
  detach(tx: Queryable, upstreamId: string): Promise<string[]>;
  /** Whether one of the upstream jobs waits for this one; no other transaction changes dependencies of the namespace meanwhile. */
  leadsTo(tx: Queryable, namespaceId: number, upstreamIds: readonly string[], jobId: string): Promise<boolean>;
  neighbours(db: Queryable, jobId: string, max: number): Promise<Neighbour[]>;
  ofJobs(tx: Queryable, jobIds: readonly string[]): Promise<Dependency[]>;
}

/** The ends of upstream runs that waiting jobs have not processed. Writes run in the caller's transaction, with the waiting jobs locked. */
export interface UpstreamEndStore {
  /** Whether any job waits for another, or has an end to process. */
  hasAny(db: Queryable): Promise<boolean>;
  /** Jobs with ends to process; `shards` null: of all shards. */
  waitingJobs(db: Queryable, shards: readonly number[] | null, limit: number): Promise<string[]>;
  /** The first ends: at most so many, and of so many bytes. */
  list(tx: Queryable, jobIds: readonly string[], limit: number, bytes?: number): Promise<UpstreamEnd[]>;
  delete(tx: Queryable, ends: readonly UpstreamEnd[]): Promise<void>;
  saveProgress(tx: Queryable, dependencies: readonly Dependency[]): Promise<void>;
  defer(tx: Queryable, jobIds: readonly string[]): Promise<void>;
  /** The ends that a paused job has not processed; null: none. */
  pending(db: Queryable, jobId: string): Promise<PendingEnds | null>;
  /** Returns the number of ends, and those that the choice drops. */
  release(tx: Queryable, jobId: string, choice: MissedChoice): Promise<{ count: number; dropped: PendingEnds | null }>;
}

export interface JobNames {
  readonly ids: readonly string[];
  readonly keys: readonly string[];
}

/** Outputs and payloads that are read at a time, as they are stored: conditions may need all of them. */
const maxBytes = 4_194_304;

export function dependencyStore(statements: Statements): DependencyStore {
  const resolve = statements.get("dependency.resolve");
  const markUpstream = statements.get("dependency.mark_upstream");
  const link = statements.get("dependency.link");
  const unlink = statements.get("dependency.unlink");
  const detach = statements.get("dependency.detach");
  const lockNamespace = statements.get("dependency.lock_namespace");
  const leadsTo = statements.get("dependency.leads_to");
  const ofJob = statements.get("dependency.list_neighbours");
  const ofJobs = statements.get("dependency.list");
  return {
    async resolve(tx, namespaceId, { ids, keys }) {
      const values = resolve.values({ namespaceId, ids, keys });
      return (await tx.query<{ id: string; key: string | null }>(resolve, values)).rows;
    },
    async markUpstream(tx, upstreamIds) {
      const values = markUpstream.values({ jobIds: upstreamIds });
      return (await tx.query<{ job_id: string }>(markUpstream, values)).rows.map((row) => row.job_id);
    },
    async link(tx, dependencies) {
      if (dependencies.length > 0) await tx.query(link, link.values(linkColumns(dependencies)));
    },
    async unlink(tx, jobIds) {
      if (jobIds.length > 0) await tx.query(unlink, unlink.values({ jobIds }));
    },
    async detach(tx, upstreamId) {
      const values = detach.values({ upstreamId });
      return (await tx.query<{ job_id: string }>(detach, values)).rows.map((row) => row.job_id);
    },
    async leadsTo(tx, namespaceId, upstreamIds, jobId) {
      await tx.query(lockNamespace, lockNamespace.values({ namespaceId }));
      const values = leadsTo.values({ upstreamIds, jobId });
      return (await tx.query<{ leads: boolean }>(leadsTo, values)).rows[0]?.leads ?? false;
    },
    async neighbours(db, jobId, max) {
      return (await db.query<NeighbourRow>(ofJob, ofJob.values({ jobId, max }))).rows.map(toNeighbour);
    },
    async ofJobs(tx, jobIds) {
      return (await tx.query<DependencyRow>(ofJobs, ofJobs.values({ jobIds }))).rows.map(toDependency);
    },
  };
}

export function upstreamEndStore(statements: Statements): UpstreamEndStore {
  const any = statements.get("upstream_end.has_any");
  const waitingJobs = statements.get("upstream_end.find_waiting_jobs");
  const list = statements.get("upstream_end.list");
  const pending = statements.get("upstream_end.count");
  const remove = statements.get("upstream_end.delete");
  const saveProgress = statements.get("dependency.save_progress");
  const defer = statements.get("upstream_end.defer");
  const release = statements.get("upstream_end.release");
  return {
    async hasAny(db) {
      return (await db.query<{ is_used: boolean }>(any)).rows[0]?.is_used ?? false;
    },
    async waitingJobs(db, shards, limit) {
      const values = waitingJobs.values({ shards: shards === null ? null : shardArray(shards), limit });
      return (await db.query<{ job_id: string }>(waitingJobs, values)).rows.map((row) => row.job_id);
    },
    async list(tx, jobIds, limit, bytes = maxBytes) {
      return (await tx.query<EndRow>(list, list.values({ jobIds, limit, maxBytes: bytes }))).rows.map(toEnd);
    },
    async delete(tx, ends) {
      if (ends.length === 0) return;
      const processed = namedColumns(ends, {
        jobIds: (end) => end.jobId,
        positions: (end) => end.position,
        runIds: (end) => end.runId,
      });
      const { rowCount } = await tx.query(remove, remove.values(processed));
      if (rowCount !== ends.length)
        throw new Error(`${rowCount} of ${ends.length} ends of jobs that this transaction holds were deleted`);
    },
    async saveProgress(tx, dependencies) {
      if (dependencies.length > 0) await tx.query(saveProgress, saveProgress.values(progressColumns(dependencies)));
    },
    async defer(tx, jobIds) {
      if (jobIds.length > 0) await tx.query(defer, defer.values({ jobIds }));
    },
    async pending(db, jobId) {
      return toPending((await db.query<PendingRow>(pending, pending.values({ jobId }))).rows[0]);
    },
    async release(tx, jobId, choice) {
      const [row] = (await tx.query<PendingRow & { total: number }>(release, release.values({ jobId, choice }))).rows;
      return { count: row?.total ?? 0, dropped: toPending(row) };
    },
  };
}

function linkColumns(dependencies: readonly NewDependency[]) {
  return namedColumns(dependencies, {
    jobIds: (one) => one.jobId,
    positions: (one) => one.position,
    namespaceIds: (one) => one.namespaceId,
    shards: (one) => one.shard,
    upstreamIds: (one) => one.upstreamId,
    onStatuses: (one) => one.on,
    conditions: (one) => one.when,
  });
}

function progressColumns(dependencies: readonly Dependency[]) {
  return namedColumns(dependencies, {
    jobIds: (one) => one.jobId,
    positions: (one) => one.position,
    metRunIds: (one) => one.metRunId,
    metAt: (one) => timestampOrNull(one.metAt),
    seenAt: (one) => timestampOrNull(one.lastEndAt),
  });
}

interface DependencyRow {
  job_id: string;
  position: number;
  upstream_id: string;
  on_status: AwaitedEnd;
  condition: string | null;
  met_run_id: string | null;
  met_at: Instant | null;
  seen_at: Instant | null;
}

function toDependency(row: DependencyRow): Dependency {
  return {
    jobId: row.job_id,
    position: row.position,
    upstreamId: row.upstream_id,
    on: row.on_status,
    when: row.condition,
    metRunId: row.met_run_id,
    metAt: row.met_at,
    lastEndAt: row.seen_at,
  };
}

interface EndRow {
  job_id: string;
  position: number;
  run_id: string;
  status: UpstreamEnd["status"];
  status_reason: string | null;
  attempt: number | null;
  output: unknown;
  error: unknown;
  payload: unknown;
  ended_at: Instant;
  traceparent: string | null;
  tracestate: string | null;
}

function toEnd(row: EndRow): UpstreamEnd {
  const {
    job_id: jobId,
    position,
    run_id: runId,
    status,
    status_reason: reason,
    attempt,
    output,
    error,
    payload,
  } = row;
  const { traceparent, tracestate, ended_at: endedAt } = row;
  const trace = traceparent === null ? null : { traceparent, ...(tracestate !== null && { tracestate }) };
  return { jobId, position, runId, status, reason, attempt, output, error, payload, endedAt, trace };
}

interface NeighbourRow {
  side: Neighbour["side"];
  job_id: string;
  key: string | null;
  on_status: AwaitedEnd;
  condition: string | null;
  met_run_id: string | null;
  met_at: Instant | null;
  state: JobState;
}

function toNeighbour(row: NeighbourRow): Neighbour {
  const { side, job_id: jobId, key, on_status: on, condition: when, met_run_id: metRunId, met_at: metAt, state } = row;
  return { side, jobId, key, on, when, metRunId, metAt, state };
}

interface PendingRow {
  count: number;
  from_at: Instant | null;
  to_at: Instant | null;
}

function toPending(row: PendingRow | undefined): PendingEnds | null {
  if (row === undefined || row.from_at === null || row.to_at === null) return null;
  return { count: row.count, from: row.from_at, to: row.to_at };
}

/** A run whose end started another run. */
export interface UpstreamRun {
  readonly id: string;
  readonly jobId: string;
  readonly jobKey: string | null;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly finishedAt: Instant;
  readonly output: unknown;
  /** The output has more bytes than a handler receives. */
  readonly isOutputCut: boolean;
  readonly error: RunError | null;
}

/** The upstream runs of a run. */
export interface UpstreamReads {
  /** The trigger of an ended run; null: history does not have it any more. */
  trigger(namespaceId: number, runId: string): Promise<string | null>;
  /** The runs that history still has, in the order of the ids. */
  runs(namespaceId: number, runIds: readonly string[]): Promise<UpstreamRun[]>;
}

export function upstreamReads(db: Queryable, statements: Statements): UpstreamReads {
  const trigger = statements.get("upstream_run.trigger");
  const runs = statements.get("upstream_run.list");
  return {
    async trigger(namespaceId, runId) {
      const values = trigger.values({ namespaceId, runId, notBefore: notBefore([runId]) });
      return (await db.query<{ trigger: string }>(trigger, values)).rows[0]?.trigger ?? null;
    },
    async runs(namespaceId, runIds) {
      if (runIds.length === 0) return [];
      const limits = { notBefore: notBefore(runIds), maxBytes: noteLimits.valueBytes };
      const values = runs.values({ namespaceId, runIds, ...limits });
      const found = new Map((await db.query<UpstreamRow>(runs, values)).rows.map((row) => [row.id, toUpstream(row)]));
      return runIds.flatMap((id) => found.get(id) ?? []);
    },
  };
}

function notBefore(ids: readonly string[]): string {
  return timestampParam(Math.max(0, Math.min(...ids.map(timeOfUuid)) - clockSlackMs));
}

interface UpstreamRow {
  id: string;
  job_id: string;
  key: string | null;
  status: UpstreamRun["status"];
  status_reason: string | null;
  finished_at: Instant;
  output: unknown;
  is_cut: boolean;
  error: RunError | null;
}

function toUpstream(row: UpstreamRow): UpstreamRun {
  const { id, job_id: jobId, key: jobKey, status, status_reason: reason, finished_at: finishedAt, output, error } = row;
  return { id, jobId, jobKey, status, reason, finishedAt, output, isOutputCut: row.is_cut, error };
}
