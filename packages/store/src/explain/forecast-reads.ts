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
