import type { DurationMs, Instant } from "@carillon/core";
import type { DueJob, DueRun } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { FireStore } from "../schedules/fire-store.js";
import { type DueWindow, queueOfClass, ReadProgress, type ReadRow, runsQueue } from "./due-window.js";

export type ShardReaderContext = Pick<EngineContext, "membership" | "now">;

export interface ShardReaderDeps {
  readonly store: Pick<FireStore, "load" | "loadRuns">;
  readonly window: DueWindow;
  readonly limits: ReadLimits;
}

export interface ReadLimits {
  /** How far ahead rows are held in memory. */
  readonly windowMs: DurationMs;
  /** The number of rows that are read ahead, the earliest first. Every shard has an equal share. */
  readonly windowEntries: number;
  /** After a write was refused or failed, its shard is read again after this time. */
  readonly rereadAfterMs: DurationMs;
}

interface Read {
  readonly jobs: readonly DueJob[];
  readonly runs: readonly DueRun[];
}

const minShare = 16;
/** The bounds of the number of shards per statement: fewer while they are full, so that a read never delays the fires for long. */
const minChunk = 16;
const maxChunk = 1_024;
const manyRows = 8_000;
const fewRows = 1_000;
/** A requested read waits for this multiple of the last read's duration, so that wakeups cannot cause reads all the time. */
const restPerRead = 4;
const maxRestMs = 1_000;
/** While more entries than this are ready, the full scan waits for at most a third of its period: the jobs that it finds are not due yet. */
const herd = 2_000;

/**
 * Keeps the window filled: reads every shard each half window, and sooner if needed. Of a queue with more rows than its share the window holds
 * only the earliest, and the reader reads on as they drain.
 */
export class ShardReader {
  readonly #context: ShardReaderContext;
  readonly #deps: ShardReaderDeps;
  /** The shards to read, and the time before which each is not read. */
  readonly #wanted = new Map<number, Instant>();
  /** Shards that the full scan has still to read. */
  readonly #toScan = new Set<number>();
  readonly #known = new ReadProgress();
  #reading: ReadonlySet<number> = new Set();
  #chunk = 64;
  #windowEnd: Instant;
  #nextScan: Instant;
  #hintsFrom: Instant;

  constructor(context: ShardReaderContext, deps: ShardReaderDeps) {
    this.#context = context;
    this.#deps = deps;
    const now = context.now();
    this.#windowEnd = now;
    this.#nextScan = now;
    this.#hintsFrom = now;
  }

  get isFullScanDue(): boolean {
    this.#followClock();
    return this.#context.now() >= this.#nextScan;
  }

  /** The time of the next read. */
  get nextRead(): Instant {
    this.#followClock();
    if (this.#toScan.size > 0 || this.#drained().length > 0) return this.#context.now();
    let next = this.#nextScan;
    for (const at of this.#wanted.values()) if (at < next) next = at;
    return next;
  }

  /** Whether a row belongs into the window now. If not, a later read finds it in time. */
  admits({ shard, at, queue }: ReadRow): boolean {
    // A read under way may be older than this row and report that it is complete.
    return at <= this.#windowEnd && (at < this.#known.knownUntil(shard, queue) || this.#reading.has(shard));
  }

  /** The window has no room for this row: its shard is read again later. */
  putOff(row: ReadRow): void {
    this.#known.lower(row);
    this.#want(row.shard, this.#context.now() + maxRestMs);
  }

  readNow(shards: Iterable<number>): void {
    const at = Math.max(this.#context.now(), this.#hintsFrom);
    for (const shard of shards) this.#want(shard, at);
  }

  /** A write for these shards was refused or failed. */
  readAgain(rows: readonly { readonly shard: number }[]): void {
    const at = this.#context.now() + this.#deps.limits.rereadAfterMs;
    for (const { shard } of rows) if (!this.#wanted.has(shard)) this.#wanted.set(shard, at);
  }

  forget(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#wanted.delete(shard);
      this.#toScan.delete(shard);
      this.#known.forget(shard);
    }
  }

  /** Reads some of the wanted shards, if any; returns the number of rows. */
  async read(): Promise<number> {
    const now = this.#context.now();
    const { epochs, shards: held } = this.#context.membership();
    if (this.isFullScanDue) this.#beginFullScan(now, held);
    const share = this.#share();
    for (const shard of this.#drained()) this.#want(shard, now);
    const shards = this.#take(now, epochs);
    return shards.length === 0 ? 0 : this.#fill(shards, share);
  }

  /** The next scan is at most half a window away. If it is further, the clock went back, and all delayed reads are due at once. */
  #followClock(): void {
    const now = this.#context.now();
    if (this.#nextScan <= now + this.#deps.limits.windowMs / 2) return;
    this.#nextScan = now;
    this.#hintsFrom = now;
    for (const shard of this.#wanted.keys()) this.#wanted.set(shard, now);
  }

  #beginFullScan(now: Instant, held: Iterable<number>): void {
    const { windowMs } = this.#deps.limits;
    this.#nextScan = now + windowMs / 2;
    this.#windowEnd = now + windowMs;
    for (const shard of held) this.#toScan.add(shard);
  }

  /** Whether the full scan may read now, or waits for a herd. */
  #mayScan(now: Instant): boolean {
    const { windowMs } = this.#deps.limits;
    const waitedMs = now - (this.#nextScan - windowMs / 2);
    return waitedMs >= windowMs / 6 || this.#deps.window.readyAt(now) <= herd;
  }

  #share(): number {
    const owned = Math.max(1, this.#context.membership().epochs.size);
    return Math.max(minShare, Math.floor(this.#deps.limits.windowEntries / owned));
  }

  #want(shard: number, at: Instant): void {
    const before = this.#wanted.get(shard);
    if (before === undefined || at < before) this.#wanted.set(shard, at);
  }

  /**
   * Shards with a partly read queue of which few rows are left, regardless of their other queues. A shard that waits after a refused write is
   * not read earlier.
   */
  #drained(): number[] {
    const { window } = this.#deps;
    if (window.room <= 0) return [];
    const few = this.#share() / 4;
    const shards = new Set<number>();
    for (const { shard, queue } of this.#known.partlyRead) {
      if (!this.#wanted.has(shard) && window.heldOf(shard, queue) <= few) shards.add(shard);
    }
    return [...shards];
  }

  #take(now: Instant, held: ReadonlyMap<number, unknown>): number[] {
    const shards = new Set<number>();
    for (const [shard, at] of this.#wanted) {
      if (shards.size >= this.#chunk) break;
      if (at <= now) shards.add(shard);
    }
    if (this.#toScan.size > 0 && this.#mayScan(now)) {
      for (const shard of this.#toScan) {
        if (shards.size >= this.#chunk) break;
        shards.add(shard);
      }
    }
    for (const shard of shards) {
      this.#wanted.delete(shard);
      this.#toScan.delete(shard);
    }
    return [...shards].filter((shard) => held.has(shard)).sort((a, b) => a - b);
  }

  async #fill(shards: readonly number[], share: number): Promise<number> {
    const { now } = this.#context;
    const { store, window } = this.#deps;
    const began = now();
    const until = this.#windowEnd;
    this.#reading = new Set(shards);
    try {
      let rows = 0;
      await window.whileReading(
        async () => ({
          jobs: await store.load(shards, until, share),
          runs: await store.loadRuns(shards, until, share),
        }),
        (read, isStale) => {
          rows = read.jobs.length + read.runs.length;
          this.#put(shards, share, read, isStale);
        },
      );
      this.#pace(rows, now() - began);
      return rows;
    } catch (error) {
      this.readAgain(shards.map((shard) => ({ shard })));
      throw error;
    } finally {
      this.#reading = new Set();
    }
  }

  #put(shards: readonly number[], share: number, { jobs, runs }: Read, isStale: (id: string) => boolean): void {
    const { window } = this.#deps;
    this.#known.recordRead(shards, share, [...jobs.map(rowOfJob), ...runs.map(rowOfRun)]);
    for (const job of jobs) {
      if (!isStale(job.jobId) && !window.putJob(job)) this.putOff(rowOfJob(job));
    }
    for (const run of runs) {
      if (!isStale(run.id) && !window.putRun(run)) this.putOff(rowOfRun(run));
    }
  }

  #pace(rows: number, tookMs: DurationMs): void {
    if (rows > manyRows) this.#chunk = Math.max(minChunk, this.#chunk / 2);
    else if (rows < fewRows) this.#chunk = Math.min(maxChunk, this.#chunk * 2);
    this.#hintsFrom = this.#context.now() + Math.min(maxRestMs, tookMs * restPerRead);
  }
}

export function rowOfJob({ shard, fireAt, class: urgency }: Pick<DueJob, "shard" | "fireAt" | "class">): ReadRow {
  return { shard, at: fireAt, queue: queueOfClass(urgency) };
}

export function rowOfRun({ shard, runAt }: DueRun): ReadRow {
  return { shard, at: runAt, queue: runsQueue };
}
