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
import type { EngineContext } from "../../context.js";
import { farFutureHorizonMs } from "../../options.js";
import type { Receipt } from "../../requests.js";
import { announceEnded } from "../../runs/run-events.js";

/** The rows of one call, each kind in its order. */
export interface ReceiptBatch {
  readonly jobs?: readonly NewJob[];
  readonly runs?: readonly NewRun[];
  readonly deduped?: readonly DedupedRun[];
}

export interface StoredWithReceipt {
  readonly jobs: readonly StoredJob[];
  readonly runs: readonly StoredRun[];
  readonly deduped: readonly DedupeOutcome[];
}

/** Stores the rows of one call together with the call's receipt. `effectOf` returns null if nothing new was stored. */
export type InsertWithReceipt = (
  batch: ReceiptBatch,
  receipt: Receipt,
  effectOf: (stored: StoredWithReceipt) => Effect | null,
) => Promise<StoredWithReceipt>;

/** These calls share no statement with others, because each commits with its own receipt. */
export function makeInsertWithReceipt(
  {
    emit,
    limits,
    store,
  }: Pick<EngineContext, "emit" | "limits"> & { readonly store: Pick<Store, "historyTransaction" | "jobs"> },
  statements: Statements,
): InsertWithReceipt {
  const horizonMs = farFutureHorizonMs(limits);
  return async ({ jobs = [], runs = [], deduped = [] }, receipt, effectOf) => {
    const done = await store.historyTransaction(async (tx) => {
      const storedJobs = jobs.length === 0 ? new Map<string, StoredJob>() : await store.jobs.insert(jobs, tx);
      const storedRuns = runs.length === 0 ? [] : await runStore(tx, statements).insert(runs, horizonMs);
      const runById = new Map(storedRuns.map((run) => [run.id, run]));
      const dedupes = dedupeStore(tx, statements);
      const replaced: Parameters<OnReplaced>[0][number][] = [];
      const collect: OnReplaced = (ended) => void replaced.push(...ended);
      const outcomes = await storeInRounds(deduped, (some) => dedupes.insert(some, horizonMs, collect));
      const stored: StoredWithReceipt = {
        jobs: jobs.map((job) => storedJobs.get(job.id) ?? null),
        runs: runs.map(({ id }) => {
          const one = runById.get(id);
          if (one === undefined) throw new Error(`A run with the id ${id} already exists.`);
          return one;
        }),
        deduped: outcomes,
      };
      const effect = effectOf(stored);
      if (effect !== null) await receipt.keep(tx, effect);
      return { stored, replaced };
    });
    // Only after the commit: a rolled back transaction has replaced nothing.
    if (done.replaced.length > 0) announceEnded(done.replaced, "cancelled", emit);
    return done.stored;
  };
}
