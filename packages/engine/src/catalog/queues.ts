import type { DurationMs, Instant, OrderKind } from "@carillon/core";
import type { QueueLimits, QueueView, QueueStats } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

/** A pause as it is asked for. It takes the place of one that is there, but for when that began. */
export interface QueuePauseSpec {
  readonly reason: string | null;
  readonly until: Instant | null;
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
