import type { Instant } from "@carillon/core";
import type { JobRef, Page, PageRequest } from "./api.js";
import type { ChangeContext } from "./job-changes.js";

export interface BackfillRequest {
  /** The first and the last instant that counts. */
  readonly from: Instant;
  readonly to: Instant;
  readonly perSecond: number;
  /** Runs of this backfill that are live at the same time, at most. */
  readonly concurrency: number;
  /** Also instants that have a run, by the schedule or by another backfill. */
  readonly repeats: boolean;
  /** Whatever the overlap policy says. */
  readonly force: boolean;
}

export interface BackfillView extends BackfillRequest {
  readonly id: string;
  readonly jobId: string;
  /** done: every instant is dealt with; its runs may still be live. */
  readonly state: "running" | "done" | "aborted";
  /** Why it was aborted; null otherwise. */
  readonly reason: string | null;
  /** Instants of the range, counted when it was asked for. */
  readonly total: number;
  readonly made: number;
  /** Left out, because they ran. */
  readonly passed: number;
  /** Left out by the overlap policy. */
  readonly skipped: number;
  /** How far it is; null before the first step. */
  readonly through: Instant | null;
  readonly actor: string | null;
  readonly createdAt: Instant;
  readonly finishedAt: Instant | null;
}

/** Instants of one backfill, at most; more are refused with backfill_invalid. */
export const mostBackfilled = 1_000_000;

/** Runs for instants of the past. Throws not_found, job_ended, backfill_invalid. */
export interface Backfills {
  /** How many instants the range has; writes nothing. Those that ran are counted too. */
  countBackfill(namespace: string, ref: JobRef, request: BackfillRequest): Promise<number>;
  startBackfill(
    namespace: string,
    ref: JobRef,
    request: BackfillRequest,
    context: ChangeContext,
  ): Promise<BackfillView>;
  getBackfill(namespace: string, id: string): Promise<BackfillView | null>;
  /** Newest first. `after` is an id. */
  listBackfills(namespace: string, ref: JobRef, page: PageRequest): Promise<Page<BackfillView>>;
  /** Makes no more runs; those made go on. One that has ended is answered as it is. */
  abortBackfill(namespace: string, id: string, context: ChangeContext): Promise<BackfillView | null>;
}
