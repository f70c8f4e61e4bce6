import type { DurationMs } from "@carillon/core";
import { type DedupeOutcome, storeInRounds } from "../dedupe/dedupe-rounds.js";
import {
  type DedupedRun,
  dedupeStore,
  type Effect,
  type NewJob,
  type NewRun,
  type OnReplaced,
  runStore,
  type Statements,
  type Store,
  type StoredJob,
  type StoredRun,
} from "@carillon/store";
import type { Receipt } from "../../requests.js";

/** What one call stores, each kind in its order. */
export interface KeptBatch {
  readonly jobs?: readonly NewJob[];
  readonly runs?: readonly NewRun[];
  readonly deduped?: readonly DedupedRun[];
}

export interface KeptAnswers {
  readonly jobs: readonly StoredJob[];
  readonly runs: readonly StoredRun[];
  readonly deduped: readonly DedupeOutcome[];
}

/** Stores what one call asks for together with the call's receipt. `effectOf` answers null where nothing was made. */
export type InsertWithReceipt = (
  batch: KeptBatch,
  receipt: Receipt,
  effectOf: (answers: KeptAnswers) => Effect | null,
) => Promise<KeptAnswers>;

/** Such calls share no statement with others: each commits with its own receipt. */
export function insertWithReceipt(
  store: Pick<Store, "settle" | "jobs">,
  statements: Statements,
  { horizonMs, onReplaced }: { readonly horizonMs: DurationMs; readonly onReplaced: OnReplaced },
): InsertWithReceipt {
  return async ({ jobs = [], runs = [], deduped = [] }, receipt, effectOf) => {
    const done = await store.settle(async (tx) => {
      const storedJobs = jobs.length === 0 ? new Map<string, StoredJob>() : await store.jobs.insert(jobs, tx);
      const storedRuns = runs.length === 0 ? [] : await runStore(tx, statements).insert(runs, horizonMs);
      const runById = new Map(storedRuns.map((run) => [run.id, run]));
      const dedupes = dedupeStore(tx, statements);
      const replaced: Parameters<OnReplaced>[0][number][] = [];
      const note: OnReplaced = (ended) => void replaced.push(...ended);
      const outcomes = await storeInRounds(deduped, (some) => dedupes.insert(some, horizonMs, note));
      const answers: KeptAnswers = {
        jobs: jobs.map((job) => storedJobs.get(job.id) ?? null),
        runs: runs.map(({ id }) => {
          const one = runById.get(id);
          if (one === undefined) throw new Error(`the run id ${id} exists already`);
          return one;
        }),
        deduped: outcomes,
      };
      const effect = effectOf(answers);
      if (effect !== null) await receipt.keep(tx, effect);
      return { answers, replaced };
    });
    // After the commit: what is told has happened.
    if (done.replaced.length > 0) onReplaced(done.replaced);
    return done.answers;
  };
}
