import type { Instant } from "@carillon/core";
import type { Page, PageRequest, RunFilter } from "./api.js";
import type { ChangeContext } from "./job-changes.js";

export type BulkAction = "cancel" | "retry" | "discard";

/** Which runs: those with these ids, or those that match. */
export type BulkTarget = { readonly ids: readonly string[] } | { readonly filter: RunFilter };

export interface BulkRequest {
  readonly action: BulkAction;
  readonly target: BulkTarget;
}

/** An item that could not be done. */
export interface OperationFailure {
  readonly id: string;
  readonly code: string;
  readonly detail: string;
}

export interface OperationView {
  readonly id: string;
  readonly action: BulkAction;
  readonly target: BulkTarget;
  readonly state: "running" | "done" | "aborted";
  readonly stateReason: string | null;
  /** Runs that were looked at; of these, those that were done and those that could not be. The rest needed nothing. */
  readonly seen: number;
  readonly done: number;
  readonly failed: number;
  /** The first of those that failed. */
  readonly failures: readonly OperationFailure[];
  readonly actor: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt: Instant | null;
}

/** How many runs an operation would be about, as far as it was looked. */
export interface BulkCount {
  readonly count: number;
  /** There may be more than were counted. */
  readonly isLeast: boolean;
}

export interface Operations {
  startBulk(namespace: string, request: BulkRequest, context: ChangeContext): Promise<OperationView>;
  countBulk(namespace: string, request: BulkRequest): Promise<BulkCount>;
  getOperation(namespace: string, id: string): Promise<OperationView | null>;
  listOperations(namespace: string, page: PageRequest): Promise<Page<OperationView>>;
  /** What was done stays done. One that has ended is answered as it is; null: there is none. */
  abortOperation(namespace: string, id: string, context: ChangeContext): Promise<OperationView | null>;
}
