import type { EnqueueSpec } from "@carillon/core";
import type { RunView } from "../runs/run-view.js";
import type { Receipt } from "../requests.js";

/** What became of one spec. Not new: the run that counts for its dedupe key. */
export type EnqueuedRun = { readonly id: string; readonly isNew: boolean } | { readonly error: unknown };

/** Somebody's open transaction: whatever sends one statement with its values over it. */
export interface TransactionQuery {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** Asking for runs. Durable when it returns; throws CarillonError run_duplicate, dedupe_busy, schedule_in_past … */
export interface Enqueueing {
  enqueue(namespace: string, spec: EnqueueSpec): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** The same, with the run as it is then. */
  enqueueShown(
    namespace: string,
    spec: EnqueueSpec,
    receipt?: Receipt,
  ): Promise<{ readonly run: RunView; readonly isNew: boolean }>;
  /**
   * As enqueue for each spec, in their order, faster; one that is refused does not keep the others from being stored. With a receipt
   * those that are not refused are stored together or not at all.
   */
  enqueueMany(namespace: string, specs: readonly EnqueueSpec[], receipt?: Receipt): Promise<EnqueuedRun[]>;
  /** In somebody's own transaction: there is a run if that commits. */
  enqueueIn(
    tx: TransactionQuery,
    namespace: string,
    spec: EnqueueSpec,
    notify: boolean,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
}
