import type { Instant } from "@carillon/core";
import type { DueState, ExpectedDue, Fence, MadeJobRun, NextTime, Queryable } from "@carillon/store";
import type { LedgerNote } from "./job-draft.js";
import type { Applied, JobUnitOfWork } from "./job-unit-of-work.js";

/** A due occurrence to fire, the next time of its job, and the entries that the step adds to the ledger. */
export interface DueOccurrence extends ExpectedDue {
  readonly next: NextTime | null;
  /** null: the stored value stays. */
  readonly catchUpTo?: Instant | null;
  readonly notes?: readonly LedgerNote[];
}

export interface OccurrenceOutcome {
  readonly jobId: string;
  /** blocked: its run waits for the live ones. overlap: no run. duplicate: its run existed already. */
  readonly outcome: "fired" | "blocked" | "overlap" | "duplicate";
  readonly run: MadeJobRun | null;
  /** The job after the transaction. */
  readonly due: DueState;
}

export interface FireOccurrences {
  readonly fence: Fence;
  /** The revision of the maintenance windows that decided; null: none did. */
  readonly windows: number | null;
  readonly rows: readonly DueOccurrence[];
}

/**
 * Fires due occurrences of jobs whose runs wait for one another or replace each other. A row without an outcome was not due, locked by
 * another transaction, changed, or refused by the fence. The live runs are read after the lock: a transaction that makes one waits for it.
 */
export async function fireOccurrences(
  unitOfWork: JobUnitOfWork,
  tx: Queryable,
  { fence, windows, rows }: FireOccurrences,
): Promise<{ readonly outcomes: OccurrenceOutcome[]; readonly applied: Applied }> {
  const locked = await unitOfWork.reads.lockDue(tx, fence, rows, windows);
  const drafts = await unitOfWork.open(tx, locked);
  const byJob = new Map(rows.map((row) => [row.jobId, row]));
  const placed = new Map<string, "queued" | "blocked" | "refused">();
  for (const draft of drafts) {
    const row = byJob.get(draft.job.id);
    if (row === undefined) throw new Error(`job ${draft.job.id} was locked and is not among the rows`);
    if (row.catchUpTo !== undefined && row.catchUpTo !== null) draft.set({ catchUpTo: row.catchUpTo });
    placed.set(draft.job.id, draft.fire(row.next));
    for (const note of row.notes ?? []) draft.noteApart(note);
  }
  const applied = await unitOfWork.write(tx, drafts);
  const outcomes = drafts.map((draft): OccurrenceOutcome => {
    const run = draft.runs.map(({ id }) => applied.made.get(id) ?? null)[0] ?? null;
    const jobId = draft.job.id;
    if (placed.get(jobId) === "refused") return { jobId, outcome: "overlap", run: null, due: draft.due };
    if (run === null) return { jobId, outcome: "duplicate", run, due: draft.due };
    return { jobId, outcome: run.state === "blocked" ? "blocked" : "fired", run, due: draft.due };
  });
  return { outcomes, applied };
}
