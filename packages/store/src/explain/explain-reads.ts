import type { Instant, ScheduleSpec } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The state around a live run that decides whether it can start. */
export interface RunSurroundings {
  readonly laneKind: string;
  /** What the run's lane requires of workers. */
  readonly requires: string;
  readonly queuePause: { readonly reason: string | null; readonly actor: string | null; readonly at: Instant } | null;
  readonly isStrict: boolean;
  readonly now: Instant;
}

export interface PlaceInLine {
  readonly ahead: number;
  /** Counted up to a limit. */
  readonly of: number;
  /** Running runs of the same queue. */
  readonly running: number;
}

export interface ExplainReads {
  surroundings(namespaceId: number, runId: string): Promise<RunSurroundings | null>;
  position(namespaceId: number, runId: string): Promise<PlaceInLine>;
}

/** Runs that are counted in each lane. */
const maxCounted = 10_000;

export function explainReads(db: Queryable, statements: Statements): ExplainReads {
  const surroundings = statements.get("explain.surroundings");
  const position = statements.get("explain.position");
  return {
    async surroundings(namespaceId, runId) {
      const [row] = (await db.query<SurroundingsRow>(surroundings, surroundings.values({ namespaceId, runId }))).rows;
      if (row === undefined) return null;
      return {
        laneKind: row.lane_kind,
        requires: row.requires,
        queuePause: row.pause,
        isStrict: row.order_kind === "strict",
        now: row.now,
      };
    },
    async position(namespaceId, runId) {
      const values = position.values({ namespaceId, runId, maxPerLane: maxCounted });
      const [row] = (await db.query<PlaceInLine>(position, values)).rows;
      return row ?? { ahead: 0, of: 0, running: 0 };
    },
  };
}

interface SurroundingsRow {
  lane_kind: string;
  requires: string;
  pause: RunSurroundings["queuePause"];
  order_kind: string | null;
  now: Instant;
}

export interface ForecastJob {
  readonly id: string;
  readonly key: string | null;
  readonly schedule: ScheduleSpec;
}

export interface ForecastReads {
  /** The jobs of these shards that fire before an instant; a bounded number from each shard. */
  jobs(namespaceId: number, shards: readonly number[], until: Instant): Promise<ForecastJob[]>;
  /** How many jobs fire next in [from, before); counted up to `max`. */
  countAt(
    namespaceId: number,
    shards: readonly number[],
    span: { readonly from: Instant; readonly before: Instant; readonly max: number },
  ): Promise<number>;
}

const maxJobsPerShard = 10_000;

export function forecastReads(db: Queryable, statements: Statements): ForecastReads {
  const jobs = statements.get("forecast.list_jobs");
  const at = statements.get("forecast.count");
  return {
    async jobs(namespaceId, shards, until) {
      type Row = { job_id: string; key: string | null; schedule: ScheduleSpec };
      const values = jobs.values({ namespaceId, shards, until: timestampParam(until), maxPerShard: maxJobsPerShard });
      const { rows } = await db.query<Row>(jobs, values);
      return rows.map(({ job_id: id, key, schedule }) => ({ id, key, schedule }));
    },
    async countAt(namespaceId, shards, { from, before, max }) {
      const span = { fromAt: timestampParam(from), before: timestampParam(before) };
      const values = at.values({ namespaceId, shards, ...span, max });
      return (await db.query<{ count: number }>(at, values)).rows[0]?.count ?? 0;
    },
  };
}
