import type { Instant, ScheduleSpec } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { columns, timestampOrNull } from "./parameters.js";
import type { HeldShard } from "./shards.js";

/** A job's next occurrence, as the wheel holds it. Stale the moment it is read: the fire compares again. */
export interface DueJob {
  readonly jobId: string;
  readonly shard: number;
  readonly class: number;
  readonly version: number;
  readonly nominal: Instant;
  readonly fireAt: Instant;
  readonly schedule: ScheduleSpec;
  readonly priority: number;
}

/** One occurrence to become a run, and where its job goes next (null: nothing is left to fire). */
export interface FireRow {
  readonly job: DueJob;
  readonly runId: string;
  readonly rank: number;
  readonly nextNominal: Instant | null;
  readonly nextFireAt: Instant | null;
}

/** Occurrences from `job.nominal` through `through` that are not fired, with the reason that the ledger keeps. */
export interface SkipRow {
  readonly job: DueJob;
  readonly through: Instant;
  readonly count: number;
  readonly reason: string;
  readonly nextNominal: Instant | null;
  readonly nextFireAt: Instant | null;
}

/** What became of one row of a fire; a row that is not answered was not due, locked, or fenced off. */
export interface Fired {
  readonly jobId: string;
  /** null when the occurrence already had its run. */
  readonly runId: string | null;
  readonly lane: number | null;
  readonly rank: number | null;
  readonly runAt: Instant | null;
  readonly createdAt: Instant | null;
  /** max_runs was reached: the job has nothing left to fire. */
  readonly isLast: boolean;
}

export interface Fence {
  readonly node: string;
  readonly shards: readonly HeldShard[];
}

export interface DueStore {
  load(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueJob[]>;
  fire(fence: Fence, rows: readonly FireRow[]): Promise<Fired[]>;
  /** Answers the jobs that were moved. */
  skip(fence: Fence, rows: readonly SkipRow[]): Promise<string[]>;
}

interface LoadedRow {
  job_id: string;
  shard: number;
  class: number;
  version: number;
  next_nominal_at: Instant;
  next_fire_at: Instant;
  schedule: ScheduleSpec;
  priority: number;
}

interface FiredRow {
  job_id: string;
  is_last: boolean;
  run_id: string | null;
  lane: number | null;
  rank: number | null;
  created_at: Instant | null;
  run_at: Instant | null;
}

export function fenceParameters(fence: Fence): unknown[] {
  return [fence.shards.map((shard) => shard.id), fence.shards.map((shard) => shard.epoch), fence.node];
}

export function dueStore(db: Queryable, statements: Statements): DueStore {
  const load = statements.get("due.load");
  const fire = statements.get("due.fire");
  const skip = statements.get("due.skip");
  return {
    async load(shards, until, limitPerShard) {
      const { rows } = await db.query<LoadedRow>(load, [shards, timestampParam(until), limitPerShard]);
      return rows.map(toDueJob);
    },
    async fire(fence, rows) {
      const values = columns(rows, [
        (row) => row.job.jobId,
        (row) => row.job.version,
        (row) => timestampParam(row.job.nominal),
        (row) => row.runId,
        (row) => row.rank,
        (row) => timestampOrNull(row.nextNominal),
        (row) => timestampOrNull(row.nextFireAt),
      ]);
      const answer = await db.query<FiredRow>(fire, [...fenceParameters(fence), ...values]);
      return answer.rows.map(toFired);
    },
    async skip(fence, rows) {
      const values = columns(rows, [
        (row) => row.job.jobId,
        (row) => row.job.version,
        (row) => timestampParam(row.job.nominal),
        (row) => timestampParam(row.through),
        (row) => row.count,
        (row) => row.reason,
        (row) => timestampOrNull(row.nextNominal),
        (row) => timestampOrNull(row.nextFireAt),
      ]);
      const answer = await db.query<{ job_id: string }>(skip, [...fenceParameters(fence), ...values]);
      return answer.rows.map((row) => row.job_id);
    },
  };
}

function toDueJob(row: LoadedRow): DueJob {
  return {
    jobId: row.job_id,
    shard: row.shard,
    class: row.class,
    version: row.version,
    nominal: row.next_nominal_at,
    fireAt: row.next_fire_at,
    schedule: row.schedule,
    priority: row.priority,
  };
}

function toFired(row: FiredRow): Fired {
  return {
    jobId: row.job_id,
    runId: row.run_id,
    lane: row.lane,
    rank: row.rank,
    runAt: row.run_at,
    createdAt: row.created_at,
    isLast: row.is_last,
  };
}
