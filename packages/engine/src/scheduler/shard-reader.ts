import type { DurationMs, Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { DueWindow } from "./due-window.js";
import type { FireStore } from "./fire-store.js";

export interface ShardReaderOptions {
  readonly store: Pick<FireStore, "load" | "loadRuns">;
  readonly window: DueWindow;
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly limits: ReadLimits;
}

export interface ReadLimits {
  /** How far ahead due times are held in memory. */
  readonly windowMs: DurationMs;
  readonly loadPerShard: number;
  /** After a row that was locked, not yet due or refused: how long until its shard is read again. */
  readonly lookAgainMs: DurationMs;
}

/** Keeps the window filled: every shard each half window, and those that need it sooner. */
export class ShardReader {
  readonly #options: ShardReaderOptions;
  /** Shards to read again, and not before when. */
  readonly #lookAgain = new Map<number, Instant>();
  #windowEnd: Instant;
  #nextLook: Instant;

  constructor(options: ShardReaderOptions) {
    this.#options = options;
    const now = options.now();
    this.#windowEnd = now;
    this.#nextLook = now;
  }

  /** Nothing later than this is held in memory. */
  get windowEnd(): Instant {
    return this.#windowEnd;
  }

  get isFullLookDue(): boolean {
    return this.#options.now() >= this.#nextLook;
  }

  /** When something is to be read next. */
  get nextRead(): Instant {
    return Math.min(this.#nextLook, ...this.#lookAgain.values());
  }

  readNow(shards: Iterable<number>): void {
    const now = this.#options.now();
    for (const shard of shards) this.#lookAgain.set(shard, now);
  }

  /** What belongs to these shards was not done, and it is not known why. */
  readAgain(rows: readonly { readonly shard: number }[]): void {
    const at = this.#options.now() + this.#options.limits.lookAgainMs;
    for (const { shard } of rows) if (!this.#lookAgain.has(shard)) this.#lookAgain.set(shard, at);
  }

  forget(shards: readonly number[]): void {
    for (const shard of shards) this.#lookAgain.delete(shard);
  }

  /** Reads what is due to be read; answers how many rows came. */
  async read(): Promise<number> {
    const now = this.#options.now();
    const held = [...this.#options.membership().epochs.keys()];
    const isFullLook = this.isFullLookDue;
    const shards = isFullLook
      ? held
      : held.filter((id) => (this.#lookAgain.get(id) ?? Number.POSITIVE_INFINITY) <= now);
    for (const [id, at] of this.#lookAgain) if (isFullLook || at <= now) this.#lookAgain.delete(id);
    if (isFullLook) {
      this.#nextLook = now + this.#options.limits.windowMs / 2;
      this.#windowEnd = now + this.#options.limits.windowMs;
    }
    return shards.length === 0 ? 0 : this.#fill(shards, now);
  }

  async #fill(shards: readonly number[], now: Instant): Promise<number> {
    const { store, window, limits } = this.#options;
    try {
      const jobs = await store.load(shards, this.#windowEnd, limits.loadPerShard);
      for (const job of jobs) window.putJob(job);
      const runs = await store.loadRuns(shards, this.#windowEnd, limits.loadPerShard);
      for (const run of runs) window.putRun(run);
      this.#readFullShardsSoon([...jobs, ...runs], now);
      return jobs.length + runs.length;
    } catch (error) {
      this.readAgain(shards.map((shard) => ({ shard })));
      throw error;
    }
  }

  /** A shard that had more than one read may bring is not known to the end of the window. */
  #readFullShardsSoon(rows: readonly { readonly shard: number }[], now: Instant): void {
    const counts = new Map<number, number>();
    for (const { shard } of rows) counts.set(shard, (counts.get(shard) ?? 0) + 1);
    for (const [shard, count] of counts) {
      if (count >= this.#options.limits.loadPerShard) this.#lookAgain.set(shard, now + 1_000);
    }
  }
}
