import type { DurationMs, TraceContext } from "@carillon/core";
import type { Database, Effect, Queryable } from "@carillon/store";

export type JobRef = { readonly id: string } | { readonly key: string };

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Pass it as `after` to read the next page; null at the end. A page before the last may be short or empty. */
  readonly next: string | null;
}

/** Expects one row more than the page holds: that row shows that there is a next page. */
export function toPage<Row>(rows: readonly Row[], pageSize: number, placeOf: (row: Row) => string): Page<Row> {
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > pageSize && last !== undefined ? placeOf(last) : null };
}

/** A keyset page, newest first by default. `after` is a `next` of the same list. */
export interface PageRequest {
  readonly pageSize: number;
  readonly after?: string;
  readonly oldestFirst?: boolean;
}

/** The number of rows of a list. */
export interface Total {
  readonly count: number;
  readonly accuracy: "exact" | "estimate" | "at_least";
}

/** estimate: from the planner's statistics, which is free. exact: by counting, up to a bound. */
export type TotalRequest = "estimate" | "exact";

/** A caller's wait for the end of a run. */
export interface WaitRequest {
  readonly waitMs: DurationMs;
  /** Aborted when the caller disconnects. */
  readonly signal?: AbortSignal;
}

/** The caller of a change of a job, and the caller's condition. */
export interface ChangeContext {
  /** Kept with the change; null if the caller is not known. */
  readonly actor: string | null;
  /** If the job has another version, the change is refused with precondition_failed. */
  readonly ifVersion?: number;
  /** Kept in the transaction that stores the change's run or backfill. */
  readonly receipt?: Receipt;
  /** The trace that the runs of this change continue, also runs that are created later. */
  readonly trace?: TraceContext;
}

/** Ties the effect of a call to its idempotency key: both commit, or neither does. */
export interface Receipt {
  /** Called inside the transaction of the effect. Throws idempotency_in_progress if another call has taken the key over. */
  keep(tx: Queryable, effect: Effect): Promise<void>;
}

/** Stores one thing; with a receipt in one transaction with it. `effectOf` returns null if nothing was stored. */
export async function storeWithReceipt<Stored>(
  db: Pick<Database, "transaction">,
  receipt: Receipt | undefined,
  store: (tx?: Queryable) => Promise<Stored>,
  effectOf: (stored: Stored) => Effect | null,
): Promise<Stored> {
  if (receipt === undefined) return store();
  return db.transaction(async (tx) => {
    const stored = await store(tx);
    const effect = effectOf(stored);
    if (effect !== null) await receipt.keep(tx, effect);
    return stored;
  });
}
