import { type Instant, type RunStatus, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type Stretch, walkDays } from "./day-walk.js";
import { type HistoryDays, mostDaysAtOnce } from "./history-days.js";
import { type EndOfRun, statsOf, type JobStats } from "./job-stats.js";
import type { Looked } from "./list-direction.js";
import { clockSlackMs } from "../runs/run-filter-params.js";

/** The output of a run that succeeded, and when that was. */
export interface Success {
  readonly value: string;
  readonly at: Instant;
}

/** How the last runs of a job ended. They are looked for from today back, some days at a time. */
export interface JobHistory {
  lastSuccess(namespaceId: number, jobId: string): Promise<Success | null>;
  stats(namespaceId: number, jobId: string, limit: number): Promise<JobStats>;
}

interface EndRow {
  readonly id: string;
  readonly status: RunStatus;
  readonly attempt: number;
  readonly at: Instant;
  readonly duration_ms: number | null;
  readonly lag_ms: number | null;
}

interface OfJob {
  readonly namespaceId: number;
  readonly jobId: string;
  readonly limit: number;
}

export function jobHistory(db: Queryable, statements: Statements, days: HistoryDays): JobHistory {
  /** The newest runs of a job. Sent without a name, so that it is planned for its days. */
  async function newest<Row extends { readonly id: string }>(
    name: string,
    { namespaceId, jobId, limit }: OfJob,
  ): Promise<readonly Row[]> {
    const { text } = statements.get(name);
    const place = { after: null, limit, direction: "newest_first" } as const;
    const look = async ({ from, before, until }: Stretch): Promise<Looked<Row>> => {
      const values = [namespaceId, jobId, limit, timestampParam(from), timestampParam(before), until];
      return { rows: (await db.query<Row>({ text }, values)).rows, edge: null };
    };
    const since = Math.max(0, timeOfUuid(jobId) - clockSlackMs);
    const walk = { place, mostDays: mostDaysAtOnce, look, isLate: () => false };
    return (await walkDays(await days.for(place, since), walk)).rows;
  }

  return {
    async lastSuccess(namespaceId, jobId) {
      type Row = Success & { readonly id: string };
      const [row] = await newest<Row>("history.last_success", { namespaceId, jobId, limit: 1 });
      return row === undefined ? null : { value: row.value, at: row.at };
    },
    async stats(namespaceId, jobId, limit) {
      const rows = await newest<EndRow>("history.ends_of_job", { namespaceId, jobId, limit });
      return statsOf(rows.map(toEnd));
    },
  };
}

function toEnd({ status, attempt, at, duration_ms: durationMs, lag_ms: lagMs }: EndRow): EndOfRun {
  return { status, attempt, at, durationMs, lagMs };
}
