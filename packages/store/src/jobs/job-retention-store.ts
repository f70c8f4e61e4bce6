import type { Instant } from "@carillon/core";
import { lowestId } from "../backfills/backfill-store.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** One batch of a pass through a table. */
export interface SweptBatch<Place> {
  /** Where the next batch starts; null: the table ends here. */
  readonly next: Place | null;
  readonly deleted: number;
}

/** An entry of the ledger, by its key. */
export interface LedgerKey {
  readonly jobId: string;
  readonly from: Instant;
  readonly version: number;
  readonly reason: string;
}

/** Deletes records of jobs that are older than the retention time. */
export interface RetentionSweeps {
  /** Checks up to `limit` entries of the ledger after this one. */
  ledger(after: LedgerKey | null, before: Instant, limit: number): Promise<SweptBatch<LedgerKey>>;
  /** Checks up to `limit` jobs after this one. */
  jobs(after: string | null, before: Instant, limit: number): Promise<SweptBatch<string>>;
  /** Returns how many were deleted. */
  backfills(before: Instant, limit: number): Promise<number>;
}

const lowestJobId = "00000000-0000-0000-0000-000000000000";
const beginning: LedgerKey = { jobId: lowestJobId, from: 0, version: 0, reason: "" };

export function retentionSweeps(db: Queryable, statements: Statements): RetentionSweeps {
  const ledger = statements.get("job_retention.delete_occurrences");
  const jobs = statements.get("job_retention.delete_jobs");
  const backfills = statements.get("job_retention.delete_backfills");
  return {
    async ledger(after, before, limit) {
      type Row = {
        job_id: string;
        from_at: Instant;
        version: number;
        reason: string;
        scanned: number;
        deleted: number;
      };
      const { jobId, from, version, reason } = after ?? beginning;
      const values = ledger.values({
        afterJobId: jobId,
        afterFrom: timestampParam(from),
        afterVersion: version,
        afterReason: reason,
        recordedBefore: timestampParam(before),
        limit,
      });
      const [row] = (await db.query<Row>(ledger, values)).rows;
      if (row === undefined) return { next: null, deleted: 0 };
      const next = { jobId: row.job_id, from: row.from_at, version: row.version, reason: row.reason };
      return { next: row.scanned < limit ? null : next, deleted: row.deleted };
    },
    async jobs(after, before, limit) {
      type Row = { job_id: string | null; scanned: number; deleted: number };
      const values = jobs.values({
        afterJobId: after ?? lowestJobId,
        endedBefore: timestampParam(before),
        lowestKeptRunId: lowestId(before),
        limit,
      });
      const [row] = (await db.query<Row>(jobs, values)).rows;
      if (row === undefined) return { next: null, deleted: 0 };
      return { next: row.scanned < limit ? null : row.job_id, deleted: row.deleted };
    },
    async backfills(before, limit) {
      return (await db.query(backfills, backfills.values({ endedBefore: timestampParam(before), limit }))).rowCount;
    },
  };
}
