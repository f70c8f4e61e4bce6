import { type Instant, type RunStatus, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { clockSlackMs } from "../runs/run-filter.js";
import type { Statements } from "../sql/statements.js";
import { type HistoryDays, type ListPart, type Stretch, maxDaysAtOnce, walkDays } from "./history-days.js";

/** The output of a run that succeeded, and when that was. */
export interface Success {
  readonly value: string;
  readonly at: Instant;
}

/** How the last runs of a job ended. Days are scanned from today back, some at a time. */
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
    name: "history.last_success" | "history.ends_of_job",
    { namespaceId, jobId, limit }: OfJob,
  ): Promise<readonly Row[]> {
    const statement = statements.get(name);
    const { text } = statement;
    const place = { after: null, limit, direction: "newest_first" } as const;
    const scan = async ({ from, before, until }: Stretch): Promise<ListPart<Row>> => {
      const ended = { endedFrom: timestampParam(from), endedBefore: timestampParam(before) };
      const values = statement.values({ namespaceId, jobId, limit, ...ended, until });
      return { rows: (await db.query<Row>({ text }, values)).rows, edge: null };
    };
    const since = Math.max(0, timeOfUuid(jobId) - clockSlackMs);
    const walk = { place, maxDays: maxDaysAtOnce, scan, isLate: () => false };
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

/** How a run ended. */
export interface EndOfRun {
  readonly status: RunStatus;
  readonly attempt: number;
  readonly at: Instant;
  /** null: it never started. */
  readonly durationMs: number | null;
  readonly lagMs: number | null;
}

/** Times are of those that succeeded. */
export function statsOf(ends: readonly EndOfRun[]): JobStats {
  const count = (status: RunStatus): number => ends.filter((end) => end.status === status).length;
  const succeeded = ends.filter((end) => end.status === "succeeded");
  const durations = inOrder(succeeded.map((end) => end.durationMs));
  const lags = inOrder(succeeded.map((end) => end.lagMs));
  const at = inOrder(ends.map((end) => end.at));
  return {
    finished: ends.length,
    succeeded: succeeded.length,
    failed: count("failed"),
    cancelled: count("cancelled"),
    skipped: count("skipped"),
    retried: ends.filter((end) => end.attempt > 1).length,
    firstAt: at[0] ?? null,
    lastAt: at.at(-1) ?? null,
    durationP50Ms: percentile(durations, 0.5),
    durationP95Ms: percentile(durations, 0.95),
    lagP95Ms: percentile(lags, 0.95),
  };
}

function inOrder(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null).toSorted((a, b) => a - b);
}

/** Between two values where it falls between them. */
function percentile(sorted: readonly number[], part: number): number | null {
  const place = part * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === undefined || above === undefined ? null : below + (above - below) * (place - Math.floor(place));
}

/** How the last finished runs of a job went. */
export interface JobStats {
  readonly finished: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  /** Those that took more than one try. */
  readonly retried: number;
  /** When the first and the last of them ended. */
  readonly firstAt: Instant | null;
  readonly lastAt: Instant | null;
  readonly durationP50Ms: number | null;
  readonly durationP95Ms: number | null;
  readonly lagP95Ms: number | null;
}
