import type { Instant } from "@carillon/core";

/** A queue of a shard with its own read limit: the jobs of a class (0 to 2), or the runs (3). */
export type DueQueue = 0 | 1 | 2 | 3;

export const runsQueue: DueQueue = 3;

export interface ReadRow {
  readonly shard: number;
  readonly at: Instant;
  readonly queue: DueQueue;
}

/** A queue of a shard that was not read to the end of the window. */
export interface PartlyRead {
  readonly shard: number;
  readonly queue: DueQueue;
}

interface Known extends PartlyRead {
  readonly to: Instant;
}

/** The time up to which each queue was read whose last read reached its limit. */
export class ReadProgress {
  readonly #known = new Map<number, Known>();

  get partlyRead(): Iterable<PartlyRead> {
    return this.#known.values();
  }

  /** Infinity for a queue that was read to the end of the window. */
  knownUntil(shard: number, queue: DueQueue): Instant {
    return this.#known.get(keyOf(shard, queue))?.to ?? Number.POSITIVE_INFINITY;
  }

  lower({ shard, at, queue }: ReadRow): void {
    this.#known.set(keyOf(shard, queue), { shard, queue, to: Math.min(this.knownUntil(shard, queue), at) });
  }

  forget(shard: number): void {
    for (const queue of dueQueues) this.#known.delete(keyOf(shard, queue));
  }

  /** Records a read of these shards that returned the earliest rows, at most `limit` per queue of each shard. */
  recordRead(shards: readonly number[], limit: number, rows: readonly ReadRow[]): void {
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

/** The queue of jobs of this class. */
export function queueOfClass(urgency: number): DueQueue {
  return urgency === 0 || urgency === 1 ? urgency : 2;
}
