/** The outcome of one spec. If isNew is false, `id` is the existing run of its dedupe key. */
export type EnqueuedRun = { readonly id: string; readonly isNew: boolean } | { readonly error: unknown };

/** A caller's open transaction: an object that sends one statement with its values over it. */
export interface TransactionQuery {
  query(text: string, values: unknown[]): Promise<unknown>;
}
