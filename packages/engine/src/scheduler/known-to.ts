import type { Instant } from "@carillon/core";

/** What is read with a limit of its own, and drains by itself: the jobs of a class (0 to 2), or the runs (3). */
export type DueQueue = 0 | 1 | 2 | 3;

export const runsQueue: DueQueue = 3;

export interface ReadRow {
  readonly shard: number;
  readonly at: Instant;
  readonly queue: DueQueue;
}

/** A queue of a shard that is not known to the end of the window. */
export interface PartlyKnown {
  readonly shard: number;
  readonly queue: DueQueue;
}

interface Known extends PartlyKnown {
  readonly to: Instant;
}

/** Up to when the queues of shards are known of which a read did not bring everything. */
export class KnownTo {
  readonly #known = new Map<number, Known>();

  get partly(): Iterable<PartlyKnown> {
    return this.#known.values();
  }

  /** Without end for a queue that was read to the end of the window. */
  of(shard: number, queue: DueQueue): Instant {
    return this.#known.get(keyOf(shard, queue))?.to ?? Number.POSITIVE_INFINITY;
  }

  lower({ shard, at, queue }: ReadRow): void {
    this.#known.set(keyOf(shard, queue), { shard, queue, to: Math.min(this.of(shard, queue), at) });
  }

  forget(shard: number): void {
    for (const queue of dueQueues) this.#known.delete(keyOf(shard, queue));
  }

  /** These shards were read anew, the nearest first, with at most `limit` rows for each queue of each. */
  read(shards: readonly number[], limit: number, rows: readonly ReadRow[]): void {
    for (const shard of shards) this.forget(shard);
    const counts = new Map<number, { count: number; last: ReadRow }>();
    for (const row of rows) {
      const key = keyOf(row.shard, row.queue);
      const seen = counts.get(key);
      if (seen === undefined) counts.set(key, { count: 1, last: row });
      else {
        seen.count += 1;
        if (row.at > seen.last.at) seen.last = row;
      }
    }
    for (const { count, last } of counts.values()) if (count >= limit) this.lower(last);
  }
}

const dueQueues: readonly DueQueue[] = [0, 1, 2, 3];

export function keyOf(shard: number, queue: DueQueue): number {
  return shard * dueQueues.length + queue;
}

/** The queue that a job of this class waits in. */
export function queueOfClass(urgency: number): DueQueue {
  return urgency === 0 || urgency === 1 ? urgency : 2;
}
