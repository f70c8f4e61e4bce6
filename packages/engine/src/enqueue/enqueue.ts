import type { EnqueueSpec } from "@carillon/core";
import type { RunView } from "../runs/run-view.js";
import type { Receipt } from "../requests.js";

/** The outcome of one spec. If isNew is false, `id` is the existing run of its dedupe key. */
export type EnqueuedRun = { readonly id: string; readonly isNew: boolean } | { readonly error: unknown };

/** A caller's open transaction: an object that sends one statement with its values over it. */
export interface TransactionQuery {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** The flat calls of the Enqueuer. */
export interface Enqueueing {
  enqueue(namespace: string, spec: EnqueueSpec): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** Returns the stored run, too. */
  enqueueShown(
    namespace: string,
    spec: EnqueueSpec,
    receipt?: Receipt,
  ): Promise<{ readonly run: RunView; readonly isNew: boolean }>;
  /**
   * As enqueue for each spec, in their order, but faster; a refused spec does not keep the others from being stored. With a receipt
   * those that are not refused are stored together or not at all.
   */
  enqueueMany(namespace: string, specs: readonly EnqueueSpec[], receipt?: Receipt): Promise<EnqueuedRun[]>;
  /** Enqueues in the caller's transaction: the run exists if that commits. */
  enqueueIn(
    tx: TransactionQuery,
    namespace: string,
    spec: EnqueueSpec,
    notify: boolean,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
}
