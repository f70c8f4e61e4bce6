import type { Instant } from "@carillon/core";
import type { DueState, ExpectedDue, Fence, MadeJobRun, NextTime, Queryable } from "@carillon/store";
import type { LedgerNote } from "./job-draft.js";
import type { Settled, Settler } from "./settler.js";

/** A due occurrence that is to be fired, where its job goes next, and what else goes to the ledger on the way there. */
export interface DueOccurrence extends ExpectedDue {
  readonly next: NextTime | null;
  /** From now on; null leaves what is stored. */
  readonly catchUpTo?: Instant | null;
  readonly notes?: readonly LedgerNote[];
}

export interface OccurrenceOutcome {
  readonly jobId: string;
  /** blocked: its run waits for the live ones. overlap: no run. duplicate: it had its run already. */
  readonly outcome: "fired" | "blocked" | "overlap" | "duplicate";
  readonly run: MadeJobRun | null;
  /** The job as it is now. */
  readonly due: DueState;
}

export interface SettleOccurrences {
  readonly fence: Fence;
  /** The revision of the maintenance windows that decided; null: none did. */
  readonly windows: number | null;
  readonly rows: readonly DueOccurrence[];
}

/**
 * Fires due occurrences of jobs whose runs wait for one another or replace each other. A row that is not answered was not
 * due, locked, changed or fenced off. The live runs are read after the lock: whoever makes one waits for it.
 */
export async function settleOccurrences(
  settler: Settler,
  tx: Queryable,
  { fence, windows, rows }: SettleOccurrences,
): Promise<{ readonly outcomes: OccurrenceOutcome[]; readonly settled: Settled }> {
  const locked = await settler.reads.lockDue(tx, fence, rows, windows);
  const drafts = await settler.open(tx, locked);
  const byJob = new Map(rows.map((row) => [row.jobId, row]));
  const placed = new Map<string, "queued" | "blocked" | "refused">();
  for (const draft of drafts) {
    const row = byJob.get(draft.job.id);
    if (row === undefined) throw new Error(`job ${draft.job.id} was locked and not asked for`);
    if (row.catchUpTo !== undefined && row.catchUpTo !== null) draft.set({ catchUpTo: row.catchUpTo });
    placed.set(draft.job.id, draft.fire(row.next));
    for (const note of row.notes ?? []) draft.noteApart(note);
  }
  const settled = await settler.write(tx, drafts);
  const outcomes = drafts.map((draft): OccurrenceOutcome => {
    const run = draft.runs.map(({ id }) => settled.made.get(id) ?? null)[0] ?? null;
    const jobId = draft.job.id;
    if (placed.get(jobId) === "refused") return { jobId, outcome: "overlap", run: null, due: draft.due };
    if (run === null) return { jobId, outcome: "duplicate", run, due: draft.due };
    return { jobId, outcome: run.state === "blocked" ? "blocked" : "fired", run, due: draft.due };
  });
  return { outcomes, settled };
}
