import type { DurationMs, Instant, OrderKind, QueueOrder } from "@carillon/core";
import type { Page, PageRequest } from "./api.js";
import type { ChangeContext } from "./job-changes.js";

export interface QueuePause {
  readonly reason: string | null;
  /** null where nobody said who they are. */
  readonly actor: string | null;
  readonly at: Instant;
  /** It ends by itself then; absent or null: it does not. */
  readonly until?: Instant | null;
}

/** A pause as it is asked for. It takes the place of one that is there, but for when that began. */
export interface QueuePauseSpec {
  readonly reason: string | null;
  readonly until: Instant | null;
}

/** At most so many runs of the queue at a time, and so many starts in any window. */
export interface QueueLimits {
  readonly concurrency?: { readonly limit: number };
  readonly rateLimit?: { readonly limit: number; readonly perMs: DurationMs; readonly burst?: number };
}

export interface QueueView {
  readonly name: string;
  readonly order: QueueOrder;
  readonly pause: QueuePause | null;
  /** null: none of its own. */
  readonly limits: QueueLimits | null;
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What waits and works now; counts stop at a limit. */
export interface QueueStats {
  readonly queued: number;
  readonly running: number;
  /** When the run that waits longest became due; null when none waits. */
  readonly oldestDueAt: Instant | null;
  readonly waitMs: DurationMs;
  /** Workers that serve the queue, and their slots together. */
  readonly workers: number;
  readonly slots: number;
  /** False: there are more than were counted. */
  readonly isExact: boolean;
}

/** What a change says; absent members stay. */
export interface QueueChange {
  readonly order?: OrderKind;
  /** null: the order's usual one. */
  readonly boundMs?: DurationMs | null;
  /** null takes the limit away. */
  readonly concurrency?: QueueLimits["concurrency"] | null;
  readonly rateLimit?: QueueLimits["rateLimit"] | null;
}

/** Queues of a namespace, by name. One is made with its first use, or by the first change of it. */
export interface Queues {
  listQueues(namespace: string, page: PageRequest): Promise<Page<QueueView>>;
  getQueue(namespace: string, name: string): Promise<QueueView | null>;
  /** Throws precondition_failed, queue_order_fixed. What is queued keeps its place. */
  changeQueue(namespace: string, name: string, change: QueueChange, context: ChangeContext): Promise<QueueView>;
  /** Nothing more is handed out; schedules go on firing. */
  pauseQueue(namespace: string, name: string, asked: QueuePauseSpec, context: ChangeContext): Promise<QueueView>;
  resumeQueue(namespace: string, name: string, context: ChangeContext): Promise<QueueView>;
  /** null when there is no such queue. */
  queueStats(namespace: string, name: string): Promise<QueueStats | null>;
  /** Of queues that there are, by name. */
  manyQueueStats(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, QueueStats>>;
}
