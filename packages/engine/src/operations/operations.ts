import type { BulkAction, BulkTarget, OperationView } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

export interface BulkRequest {
  readonly action: BulkAction;
  readonly target: BulkTarget;
}

/** How many runs an operation would be about, as far as it was looked. */
export interface BulkCount {
  readonly count: number;
  /** There may be more than were counted. */
  readonly isLeast: boolean;
}

/** Which runs of a queue end. */
export interface PurgeRequest {
  /** Also those that wait for their time, or for their next try. */
  readonly isOfDelayed: boolean;
}

export interface Operations {
  /**
   * Ends the runs of a queue that wait: for a worker, for a limit or their order, or behind another run of their job. What is little is
   * done when the call ends, the rest goes on by itself. null: there is no such queue.
   */
  purgeQueue(
    namespace: string,
    queue: string,
    asked: PurgeRequest,
    context: ChangeContext,
  ): Promise<OperationView | null>;
  countPurge(namespace: string, queue: string, asked: PurgeRequest): Promise<BulkCount | null>;
  startBulk(namespace: string, request: BulkRequest, context: ChangeContext): Promise<OperationView>;
  countBulk(namespace: string, request: BulkRequest): Promise<BulkCount>;
  getOperation(namespace: string, id: string): Promise<OperationView | null>;
  listOperations(namespace: string, page: PageRequest): Promise<Page<OperationView>>;
  /** What was done stays done. One that has ended is answered as it is; null: there is none. */
  abortOperation(namespace: string, id: string, context: ChangeContext): Promise<OperationView | null>;
}
