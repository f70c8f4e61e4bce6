import type { DurationMs, TraceContext } from "@carillon/core";
import type { Effect, Queryable } from "@carillon/store";

export type JobRef = { readonly id: string } | { readonly key: string };

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** What to pass as `after` for the next page; null at the end. A page may be short, or empty, before the last. */
  readonly next: string | null;
}

/** A page of rows of which one more than the page holds was read. */
export function toPage<Row>(rows: readonly Row[], pageSize: number, placeOf: (row: Row) => string): Page<Row> {
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > pageSize && last !== undefined ? placeOf(last) : null };
}

/** Keyset page: newest first unless said otherwise. `after` is a `next` of this list. */
export interface PageRequest {
  readonly pageSize: number;
  readonly after?: string;
  readonly oldestFirst?: boolean;
}

/** How many rows a list has. */
export interface Total {
  readonly count: number;
  readonly accuracy: "exact" | "estimate" | "at_least";
}

/** By the planner's statistics, which costs nothing, or by counting, which ends at a bound. */
export type TotalRequest = "estimate" | "exact";

/** How long a caller waits for the end of a run. */
export interface WaitRequest {
  readonly waitMs: DurationMs;
  /** Fires when the caller goes away. */
  readonly signal?: AbortSignal;
}

/** Who changes a job, and on what condition. */
export interface ChangeContext {
  /** Kept with the change; null where nobody said who they are. */
  readonly actor: string | null;
  /** The job must have this version, or the change is refused with precondition_failed. */
  readonly ifVersion?: number;
  /** Kept with what the change makes: a run, a backfill. */
  readonly receipt?: Receipt;
  /** The runs that the change makes go on in this trace, those that it makes later too. */
  readonly trace?: TraceContext;
}

/** Ties what a call does to its idempotency key: both commit, or neither. */
export interface Receipt {
  /** Inside the transaction of the effect. Throws idempotency_in_progress when somebody else has taken the key over. */
  keep(tx: Queryable, effect: Effect): Promise<void>;
}
