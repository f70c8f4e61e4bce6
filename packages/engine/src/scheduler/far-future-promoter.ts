import type { DurationMs, Instant } from "@carillon/core";
import type { FarFutureRun, FarFutureStore } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type FarFutureLimits, defaultFarFutureLimits } from "../options.js";

export type FarFuturePromoterContext = Pick<EngineContext, "emit" | "membership" | "now"> & {
  readonly limits: Pick<EngineContext["limits"], "farFuture">;
  readonly loops: Pick<EngineContext["loops"], "register" | "wake">;
  readonly store: { readonly farFuture: FarFutureStore };
  readonly wakeups: Pick<EngineContext["wakeups"], "on" | "runsDue" | "runsQueued">;
};

export interface PromotionReport {
  /** How many shards were scanned. */
  readonly scanned: number;
  readonly promoted: number;
}

/**
 * Moves one-off jobs from far_future_run into the hot table shortly before their time, in the shards that this node owns. One tick is at
 * most one scan and one promotion; its loop paces it. So that the dead index entries of promoted rows are not walked again, each shard is
 * read from where its last promotion ended; only the full scan reads it from its beginning.
 */
export class FarFuturePromoter {
  readonly #context: FarFuturePromoterContext;
  readonly #limits: FarFutureLimits;
  /** From which due time on a shard is read: earlier runs are promoted. */
  readonly #from = new Map<number, Instant>();
  /** Shards with runs to promote, and the first due time of each. */
  readonly #due = new Map<number, Instant>();
  /** Shards in which a scan found a run and no promotion has been tried since. */
  readonly #seen = new Set<number>();
  #nextScan: Instant;
  #nextFullScan: Instant;
  #lastPromotionMs: DurationMs = 0;

  constructor(context: FarFuturePromoterContext) {
    this.#context = context;
    this.#limits = { ...defaultFarFutureLimits, ...context.limits.farFuture };
    this.#nextScan = this.#nextFullScan = context.now();
    const { loops, wakeups } = context;
    loops.register("far_future", async () => {
      await this.tick();
      return this.idleMs;
    });
    wakeups.on("shards.owned", ({ gained, lost }) => {
      this.forgetShards(lost);
      this.scanShards(gained.map((shard) => shard.id));
      if (gained.length > 0) loops.wake("far_future");
    });
  }

  async tick(): Promise<PromotionReport> {
    const scanned = await this.#scan();
    return { scanned, promoted: await this.#promote() };
  }

  /** How long the next tick can wait. Promotions that are not urgent take at most half of the time. */
  get idleMs(): DurationMs {
    const now = this.#context.now();
    if (this.#due.size === 0) return Math.min(this.#limits.scanIntervalMs, Math.max(0, this.#nextScan - now));
    const isUrgent = Math.min(...this.#due.values()) < now + this.#limits.leadMs / 2;
    return isUrgent ? 0 : this.#lastPromotionMs;
  }

  /** This node has just become the owner of these shards, so the next tick scans them from their beginning. */
  scanShards(shards: readonly number[]): void {
    this.forgetShards(shards);
    this.#nextScan = this.#context.now();
  }

  forgetShards(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#from.delete(shard);
      this.#due.delete(shard);
      this.#seen.delete(shard);
    }
  }

  async #scan(): Promise<number> {
    const now = this.#context.now();
    const clockWentBack = this.#nextScan > now + this.#limits.scanIntervalMs;
    if (now < this.#nextScan && !clockWentBack) return 0;
    this.#nextScan = now + this.#limits.scanIntervalMs;
    const isFull = clockWentBack || now >= this.#nextFullScan;
    const held = this.#context.membership().shards;
    const shards = isFull ? held : held.filter((shard) => !this.#due.has(shard));
    if (shards.length === 0) return 0;
    const until = now + this.#limits.leadMs;
    try {
      for (let first = 0; first < shards.length; first += this.#limits.shardsPerScan) {
        await this.#scanShards(shards.slice(first, first + this.#limits.shardsPerScan), until, isFull);
      }
    } finally {
      // Also after a full scan that failed: the scans from where the promotions ended must continue.
      const end = this.#context.now();
      if (isFull) this.#nextFullScan = end + Math.max(this.#limits.fullScanIntervalMs, 20 * (end - now));
    }
    return shards.length;
  }

  async #scanShards(shards: readonly number[], until: Instant, isFull: boolean): Promise<void> {
    const from = shards.map((shard) => ({ shard, from: isFull ? 0 : (this.#from.get(shard) ?? 0) }));
    const found = new Map((await this.#context.store.farFuture.scan(from, until)).map((one) => [one.shard, one.from]));
    for (const shard of shards) this.#note(shard, found.get(shard), until);
  }

  #note(shard: number, firstDue: Instant | undefined, until: Instant): void {
    if (firstDue === undefined) {
      this.#from.set(shard, until);
      this.#due.delete(shard);
    } else {
      this.#due.set(shard, firstDue);
      this.#seen.add(shard);
    }
  }

  /** Promotes the shards with the earliest due times first, so that overdue runs precede the others after a long stop. */
  async #promote(): Promise<number> {
    const { nodeId, epochs } = this.#context.membership();
    const first = [...this.#due].sort(([, a], [, b]) => a - b).slice(0, this.#limits.shardsPerPromotion);
    const shards = first.flatMap(([id]) => {
      const epoch = epochs.get(id);
      return epoch === undefined ? [] : [{ id, epoch }];
    });
    for (const [id] of first) if (!epochs.has(id)) this.#due.delete(id);
    if (shards.length === 0) return 0;
    const now = this.#context.now();
    const until = now + this.#limits.leadMs;
    const limit = Math.ceil(this.#limits.batch / shards.length);
    const promoted = await this.#context.store.farFuture.promote({ node: nodeId, shards }, this.#due, until, limit);
    this.#lastPromotionMs = Math.max(0, this.#context.now() - now);
    const ids = shards.map((shard) => shard.id);
    this.#advance(ids, promoted, { until, limit });
    this.#announce(promoted);
    return promoted.length;
  }

  /**
   * A shard that reached the limit may have more runs, from its last one on; the others are done until the next scan. A shard that
   * promoted nothing although a scan found a run in it was refused (its fence is old, or the run is locked or gone), and is read again
   * from where it was.
   */
  #advance(
    shards: readonly number[],
    promoted: readonly FarFutureRun[],
    { until, limit }: { until: Instant; limit: number },
  ): void {
    const ends = new Map<number, { count: number; last: Instant }>();
    for (const { shard, runAt } of promoted) {
      const end = ends.get(shard);
      ends.set(shard, { count: (end?.count ?? 0) + 1, last: Math.max(end?.last ?? 0, runAt) });
    }
    let refused = 0;
    for (const shard of shards) {
      const end = ends.get(shard);
      if (end !== undefined && end.count >= limit) this.#due.set(shard, end.last);
      else this.#due.delete(shard);
      if (end === undefined && this.#seen.has(shard)) refused++;
      else if (!this.#due.has(shard)) this.#from.set(shard, until);
      this.#seen.delete(shard);
    }
    if (refused > 0) this.#context.emit({ type: "write.fenced", statement: "far_future.promote", count: refused });
  }

  #announce(promoted: readonly FarFutureRun[]): void {
    if (promoted.length === 0) return;
    const { emit, wakeups } = this.#context;
    wakeups.runsQueued(promoted.filter((run) => run.state === "queued"));
    const waiting = promoted.filter((run) => run.state === "scheduled");
    if (waiting.length > 0) wakeups.runsDue(waiting);
    emit({ type: "runs.promoted", count: promoted.length });
  }
}
