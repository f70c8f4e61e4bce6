import type { BackfillRequest, BackfillView } from "@carillon/store";
import type { JobRef, Page, PageRequest, ChangeContext } from "../requests.js";

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
