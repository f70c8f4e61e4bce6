/** What became of one spec. Not new: the run that counts for its dedupe key. */
export type EnqueuedRun = { readonly id: string; readonly isNew: boolean } | { readonly error: unknown };

/** Somebody's open transaction: whatever sends one statement with its values over it. */
export interface TransactionQuery {
  query(text: string, values: unknown[]): Promise<unknown>;
}
