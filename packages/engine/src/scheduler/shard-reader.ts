import type { DurationMs, Instant } from "@carillon/core";
import type { DueJob, DueRun } from "@carillon/store";
import type { DueWindow } from "./due-window.js";
import type { FireStore } from "../schedules/fire-store.js";
import { KnownTo, queueOfClass, type ReadRow, runsQueue } from "./known-to.js";
import type { Membership } from "../context.js";

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
  /** Jobs that are read ahead, the nearest first; every shard has its share. */
  readonly windowEntries: number;
  /** After a row that was locked, not yet due or refused: how long until its shard is read again. */
  readonly lookAgainMs: DurationMs;
}

interface Read {
  readonly jobs: readonly DueJob[];
  readonly runs: readonly DueRun[];
}

const leastShare = 16;
/** Shards of one statement: fewer while they are full, so that a read never holds up the fires for long. */
const leastChunk = 16;
const mostChunk = 1_024;
const manyRows = 8_000;
const fewRows = 1_000;
/** A read that was asked for from outside waits for so many times what the last one took: hints cannot fill the day with reads. */
const restPerRead = 4;
const longestRestMs = 1_000;
/** While more than this is ready the full look waits, for a third of its period at most: what it finds is not due yet. */
const herd = 2_000;

/**
 * Keeps the window filled: every shard each half window, and those that need it sooner. Of a queue of a shard with more than
 * its share only the nearest is held, and it is read on as that drains.
 */
export class ShardReader {
  readonly #options: ShardReaderOptions;
  /** Shards to read, and not before when. */
  readonly #wanted = new Map<number, Instant>();
  /** Shards that the full look has still to read. */
  readonly #toLook = new Set<number>();
  readonly #known = new KnownTo();
  #reading: ReadonlySet<number> = new Set();
  #chunk = 64;
  #windowEnd: Instant;
  #nextLook: Instant;
  #hintsFrom: Instant;

  constructor(options: ShardReaderOptions) {
    this.#options = options;
    const now = options.now();
    this.#windowEnd = now;
    this.#nextLook = now;
    this.#hintsFrom = now;
  }

  get isFullLookDue(): boolean {
    this.#followClock();
    return this.#options.now() >= this.#nextLook;
  }

  /** When something is to be read next. */
  get nextRead(): Instant {
    this.#followClock();
    if (this.#toLook.size > 0 || this.#drained().length > 0) return this.#options.now();
    let next = this.#nextLook;
    for (const at of this.#wanted.values()) if (at < next) next = at;
    return next;
  }

  /** Whether something that is due then belongs into the window; if not, a read brings it in time. */
  admits({ shard, at, queue }: ReadRow): boolean {
    // A read under way may be older than what is asked about here, and say that it saw everything.
    return at <= this.#windowEnd && (at < this.#known.of(shard, queue) || this.#reading.has(shard));
  }

  /** There was no room for something that belongs into the window. */
  missed(row: ReadRow): void {
    this.#known.lower(row);
    this.#want(row.shard, this.#options.now() + longestRestMs);
  }

  readNow(shards: Iterable<number>): void {
    const at = Math.max(this.#options.now(), this.#hintsFrom);
    for (const shard of shards) this.#want(shard, at);
  }

  /** What belongs to these shards was not done, and it is not known why. */
  readAgain(rows: readonly { readonly shard: number }[]): void {
    const at = this.#options.now() + this.#options.limits.lookAgainMs;
    for (const { shard } of rows) if (!this.#wanted.has(shard)) this.#wanted.set(shard, at);
  }

  forget(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#wanted.delete(shard);
      this.#toLook.delete(shard);
      this.#known.forget(shard);
    }
  }

  /** Reads some of what is to be read, if anything; answers how many rows came. */
  async read(): Promise<number> {
    const now = this.#options.now();
    const { epochs, shards: held } = this.#options.membership();
    if (this.isFullLookDue) this.#beginFullLook(now, held);
    const share = this.#share();
    for (const shard of this.#drained()) this.#want(shard, now);
    const shards = this.#take(now, epochs);
    return shards.length === 0 ? 0 : this.#fill(shards, share);
  }

  /** No look is further away than half a window: where it is, the clock went back, and what was put off by it is due at once. */
  #followClock(): void {
    const now = this.#options.now();
    if (this.#nextLook <= now + this.#options.limits.windowMs / 2) return;
    this.#nextLook = now;
    this.#hintsFrom = now;
    for (const shard of this.#wanted.keys()) this.#wanted.set(shard, now);
  }

  #beginFullLook(now: Instant, held: Iterable<number>): void {
    const { windowMs } = this.#options.limits;
    this.#nextLook = now + windowMs / 2;
    this.#windowEnd = now + windowMs;
    for (const shard of held) this.#toLook.add(shard);
  }

  /** The next full look begins half a window after this one did. */
  #mayLook(now: Instant): boolean {
    const { windowMs } = this.#options.limits;
    const waitedMs = now - (this.#nextLook - windowMs / 2);
    return waitedMs >= windowMs / 6 || this.#options.window.readyAt(now) <= herd;
  }

  #share(): number {
    const { limits, membership } = this.#options;
    return Math.max(leastShare, Math.floor(limits.windowEntries / Math.max(1, membership().epochs.size)));
  }

  #want(shard: number, at: Instant): void {
    const before = this.#wanted.get(shard);
    if (before === undefined || at < before) this.#wanted.set(shard, at);
  }

  /**
   * Shards with a queue that is not known to the end and of which little is left, whatever waits in their other queues. One
   * that is wanted later, after a refusal, waits.
   */
  #drained(): number[] {
    const { window } = this.#options;
    if (window.room <= 0) return [];
    const few = this.#share() / 4;
    const shards = new Set<number>();
    for (const { shard, queue } of this.#known.partly) {
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
    if (this.#toLook.size > 0 && this.#mayLook(now)) {
      for (const shard of this.#toLook) {
        if (shards.size >= this.#chunk) break;
        shards.add(shard);
      }
    }
    for (const shard of shards) {
      this.#wanted.delete(shard);
      this.#toLook.delete(shard);
    }
    return [...shards].filter((shard) => held.has(shard)).sort((a, b) => a - b);
  }

  async #fill(shards: readonly number[], share: number): Promise<number> {
    const { store, window, now } = this.#options;
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
    const { window } = this.#options;
    this.#known.read(shards, share, [...jobs.map(rowOfJob), ...runs.map(rowOfRun)]);
    for (const job of jobs) {
      if (!isStale(job.jobId) && !window.putJob(job)) this.missed(rowOfJob(job));
    }
    for (const run of runs) {
      if (!isStale(run.id) && !window.putRun(run)) this.missed(rowOfRun(run));
    }
  }

  #pace(rows: number, tookMs: DurationMs): void {
    if (rows > manyRows) this.#chunk = Math.max(leastChunk, this.#chunk / 2);
    else if (rows < fewRows) this.#chunk = Math.min(mostChunk, this.#chunk * 2);
    this.#hintsFrom = this.#options.now() + Math.min(longestRestMs, tookMs * restPerRead);
  }
}

export function rowOfJob({ shard, fireAt, class: urgency }: Pick<DueJob, "shard" | "fireAt" | "class">): ReadRow {
  return { shard, at: fireAt, queue: queueOfClass(urgency) };
}

export function rowOfRun({ shard, runAt }: DueRun): ReadRow {
  return { shard, at: runAt, queue: runsQueue };
}
