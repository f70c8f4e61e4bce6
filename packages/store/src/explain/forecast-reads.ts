import type { Instant, ScheduleSpec } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

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
  const jobs = statements.get("forecast.jobs");
  const at = statements.get("forecast.at");
  return {
    async jobs(namespaceId, shards, until) {
      type Row = { job_id: string; key: string | null; schedule: ScheduleSpec };
      const { rows } = await db.query<Row>(jobs, [namespaceId, shards, timestampParam(until), maxJobsPerShard]);
      return rows.map(({ job_id: id, key, schedule }) => ({ id, key, schedule }));
    },
    async countAt(namespaceId, shards, { from, before, max }) {
      const values = [namespaceId, shards, timestampParam(from), timestampParam(before), max];
      return (await db.query<{ count: number }>(at, values)).rows[0]?.count ?? 0;
    },
  };
}
