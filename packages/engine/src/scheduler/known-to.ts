import type { Instant } from "@carillon/core";

export interface ReadRow {
  readonly shard: number;
  readonly at: Instant;
  /** What is read with a limit of its own: a class of jobs, or runs. */
  readonly queue: number;
}

/** Up to when the shards are known of which a read did not bring everything. */
export class KnownTo {
  readonly #to = new Map<number, Instant>();

  get shards(): Iterable<number> {
    return this.#to.keys();
  }

  /** Without end for a shard that was read to the end of the window. */
  of(shard: number): Instant {
    return this.#to.get(shard) ?? Number.POSITIVE_INFINITY;
  }

  lower(shard: number, to: Instant): void {
    this.#to.set(shard, Math.min(this.of(shard), to));
  }

  forget(shard: number): void {
    this.#to.delete(shard);
  }

  /** These shards were read anew, the nearest first, with at most `limit` rows for each queue of each. */
  read(shards: readonly number[], limit: number, rows: readonly ReadRow[]): void {
    for (const shard of shards) this.#to.delete(shard);
    const counts = new Map<number, { count: number; last: Instant }>();
    for (const { shard, at, queue } of rows) {
      const key = shard * 4 + queue;
      const seen = counts.get(key);
      if (seen === undefined) counts.set(key, { count: 1, last: at });
      else {
        seen.count += 1;
        seen.last = Math.max(seen.last, at);
      }
    }
    for (const [key, { count, last }] of counts) if (count >= limit) this.lower(Math.floor(key / 4), last);
  }
}
