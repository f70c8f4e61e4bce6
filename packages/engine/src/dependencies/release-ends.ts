import type { MissedChoice } from "@carillon/core";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { DependencyStore, Queryable } from "@carillon/store";

export interface Release {
  readonly choice: MissedChoice;
  readonly dependencies: Pick<DependencyStore, "release">;
}

/** A job that waits for others is not paused any more: what it will not be told goes to the ledger. Answers how many it missed. */
export async function releaseEnds(tx: Queryable, draft: JobDraft, { choice, dependencies }: Release): Promise<number> {
  if (draft.job.schedule.kind !== "after") return 0;
  const { count, dropped } = await dependencies.release(tx, draft.job.id, choice);
  if (dropped !== null) draft.noteApart({ reason: "paused", ...dropped });
  return count;
}
