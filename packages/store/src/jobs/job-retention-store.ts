import type { Instant } from "@carillon/core";
import { lowestId } from "../backfills/backfill-store.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** One part of a pass through a table. */
export interface SweptPart<Place> {
  /** Where the next part starts; null: the table ends here. */
  readonly next: Place | null;
  /** How many rows were deleted. */
  readonly gone: number;
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
  /** Checks so many entries of the ledger after this one. */
  ledger(after: LedgerKey | null, before: Instant, limit: number): Promise<SweptPart<LedgerKey>>;
  /** Checks so many jobs after this one. */
  jobs(after: string | null, before: Instant, limit: number): Promise<SweptPart<string>>;
  /** Returns how many were deleted. */
  backfills(before: Instant, limit: number): Promise<number>;
}

const lowestJobId = "00000000-0000-0000-0000-000000000000";
const beginning: LedgerKey = { jobId: lowestJobId, from: 0, version: 0, reason: "" };

export function retentionSweeps(db: Queryable, statements: Statements): RetentionSweeps {
  const ledger = statements.get("retention.ledger");
  const jobs = statements.get("retention.jobs");
  const backfills = statements.get("retention.backfills");
  return {
    async ledger(after, before, limit) {
      type Row = { job_id: string; from_at: Instant; version: number; reason: string; seen: number; gone: number };
      const { jobId, from, version, reason } = after ?? beginning;
      const place = [jobId, timestampParam(from), version, reason];
      const [row] = (await db.query<Row>(ledger, [...place, timestampParam(before), limit])).rows;
      if (row === undefined) return { next: null, gone: 0 };
      const next = { jobId: row.job_id, from: row.from_at, version: row.version, reason: row.reason };
      return { next: row.seen < limit ? null : next, gone: row.gone };
    },
    async jobs(after, before, limit) {
      type Row = { job_id: string | null; seen: number; gone: number };
      const values = [after ?? lowestJobId, timestampParam(before), lowestId(before), limit];
      const [row] = (await db.query<Row>(jobs, values)).rows;
      if (row === undefined) return { next: null, gone: 0 };
      return { next: row.seen < limit ? null : row.job_id, gone: row.gone };
    },
    async backfills(before, limit) {
      return (await db.query(backfills, [timestampParam(before), limit])).rowCount;
    },
  };
}
