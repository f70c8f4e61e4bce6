import { type DurationMs, type Instant, TimingWheel } from "@carillon/core";
import type { DueJob, DueRun } from "@carillon/store";

/** The share of each batch that is kept for the second and third class if they have due jobs, so that no class starves. */
const shareOfSecond = 1 / 8;
const shareOfThird = 1 / 16;

export interface DueWindowOptions {
  readonly now: Instant;
  /** The maximum number of entries. A refused row must be read again when there is room. */
  readonly capacity?: number;
  /** Runs are taken up to this long before their time. Those of each half of it are taken together, at least half of it ahead. */
  readonly aheadMs?: () => DurationMs;
  /** The number of lanes. Each shard belongs to one, so batches of two lanes have no shard in common. */
  readonly lanes?: number;
}

export interface DueNow {
  /** High priority first, then by second, and within a second by creation. */
  readonly jobs: readonly DueJob[];
  readonly runs: readonly DueRun[];
}

class Entry {
  /** null for a run. */
  readonly job: DueJob | null;
  readonly run: DueRun | null;
  readonly shard: number;
  readonly due: Instant;
  /** The creation time of the job or run, from its id. Rows that were created together share pages. */
  readonly made: number;
  /** The handle in the wheel; -1 once the entry is ready. */
  handle = -1;
  isWithdrawn = false;

  constructor(id: string, job: DueJob | null, run: DueRun | null, shard: number, due: Instant) {
    this.job = job;
    this.run = run;
    this.shard = shard;
    this.due = due;
    this.made = madeOf(id);
  }
}

class Lane {
  /** By class: 0 is the first. */
  readonly jobs = [new ReadyQueue<Entry>(), new ReadyQueue<Entry>(), new ReadyQueue<Entry>()] as const;
  readonly runs = new ReadyQueue<Entry>();

  queueOf({ job }: Entry): ReadyQueue<Entry> {
    if (job === null) return this.runs;
    return this.jobs[job.class === 0 || job.class === 1 ? job.class : 2];
  }

  get length(): number {
    return this.jobs[0].length + this.jobs[1].length + this.jobs[2].length + this.runs.length;
  }

  take(max: number): Entry[] {
    const [first, second, third] = this.jobs;
    const forThird = Math.min(third.length, Math.ceil(max * shareOfThird));
    const forSecond = Math.min(second.length, Math.ceil(max * shareOfSecond));
    const taken: Entry[] = [];
    first.take(max - forSecond - forThird, taken);
    second.take(max - forThird - taken.length, taken);
    third.take(max - taken.length, taken);
    this.runs.take(max, taken);
    return taken;
  }
}

/**
 * The near future of the shards this node owns: jobs by their fire time, delayed and retrying runs by theirs, in a timing
 * wheel until they are due and then in a queue for each class of priority. A cache of bounded size: the statements refuse its
 * stale entries.
 */
export class DueWindow {
  readonly #wheel: TimingWheel<Entry>;
  readonly #capacity: number;
  readonly #aheadMs: () => DurationMs;
  readonly #lanes: readonly Lane[];
  readonly #entries = new Map<string, Entry>();
  /** The number of entries of each queue of each shard. */
  readonly #held = new Map<number, number>();
  /** Entries that were taken and are being written. */
  readonly #writing = new Set<string>();
  /** Entries being written when the current read began, and those taken since; null while no read runs. */
  #touched: Set<string> | null = null;

  constructor({ now, capacity = Number.POSITIVE_INFINITY, aheadMs = () => 0, lanes = 1 }: DueWindowOptions) {
    this.#wheel = new TimingWheel<Entry>({ startMs: now });
    this.#capacity = capacity;
    this.#aheadMs = aheadMs;
    this.#lanes = Array.from({ length: lanes }, () => new Lane());
  }

  get size(): number {
    return this.#entries.size;
  }

  get room(): number {
    return this.#capacity - this.#entries.size;
  }

  /** When to take next: an instant of the past while entries are ready, -1 if there are no entries. */
  get nextDue(): Instant {
    return this.#lanes.some((lane) => lane.length > 0) ? 0 : this.#wheel.nextDue();
  }

  /** The number of due entries that were not taken yet. */
  readyAt(now: Instant): number {
    this.#makeReady(now);
    return this.#lanes.reduce((sum, lane) => sum + lane.length, 0);
  }

  heldOf(shard: number, queue: DueQueue): number {
    return this.#held.get(keyOf(shard, queue)) ?? 0;
  }

  /** Returns false if there is no room. */
  putJob(job: DueJob): boolean {
    const known = this.#entries.get(job.jobId);
    if (known !== undefined && isSame(known.job, job)) return true;
    return this.#put(job.jobId, known, new Entry(job.jobId, job, null, job.shard, job.fireAt));
  }

  /** With `isOnTime` the run is not taken ahead of its time. Returns false if there is no room. */
  putRun(run: DueRun, isOnTime = false): boolean {
    const known = this.#entries.get(run.id);
    if (known?.run?.runAt === run.runAt) return true;
    const due = isOnTime ? run.runAt : this.#aheadOf(run.runAt);
    return this.#put(run.id, known, new Entry(run.id, null, run, run.shard, due));
  }

  /**
   * The rows of a read may be older than writes that happened since it began. Jobs and runs that were being written at any time since then
   * are stale: their writer puts them back, or requests another read of their shard.
   */
  async whileReading<Read>(
    read: () => Promise<Read>,
    put: (read: Read, isStale: (id: string) => boolean) => void,
  ): Promise<void> {
    const touched = new Set(this.#writing);
    this.#touched = touched;
    try {
      put(await read(), (id) => touched.has(id));
    } finally {
      this.#touched = null;
    }
  }

  /** Removes the entries of shards that moved to other nodes. */
  dropShards(shards: ReadonlySet<number>): void {
    for (const [id, entry] of this.#entries) {
      if (!shards.has(entry.shard)) continue;
      this.#withdraw(entry);
      this.#forget(id, entry);
    }
  }

  /** Entries that are due now or may be queued ahead, at most `max` jobs and as many runs, of one lane. */
  takeDue(now: Instant, max: number, lane = 0): DueNow {
    this.#makeReady(now);
    const taken = this.#laneOf(lane).take(max);
    const jobs: DueJob[] = [];
    const runs: DueRun[] = [];
    for (const entry of taken) {
      const { job, run } = entry;
      if (job !== null) jobs.push(job);
      else if (run !== null) runs.push(run);
      const id = job?.jobId ?? run?.id ?? "";
      this.#writing.add(id);
      this.#touched?.add(id);
      this.#forget(id, entry);
    }
    return { jobs, runs };
  }

  /** Called when the write of the taken entries has ended, with or without success. */
  release({ jobs, runs }: DueNow): void {
    for (const { jobId } of jobs) this.#writing.delete(jobId);
    for (const { id } of runs) this.#writing.delete(id);
  }

  #aheadOf(at: Instant): Instant {
    const step = this.#aheadMs() / 2;
    return step === 0 ? at : Math.floor(at / step) * step - step;
  }

  #makeReady(now: Instant): void {
    const due = this.#wheel.advance(now);
    due.sort((a, b) => secondOf(a) - secondOf(b) || a.made - b.made);
    for (const entry of due) {
      entry.handle = -1;
      this.#laneOf(entry.shard).queueOf(entry).push(entry);
    }
  }

  #laneOf(shard: number): Lane {
    const lane = this.#lanes[shard % this.#lanes.length];
    if (lane === undefined) throw new RangeError(`There is no lane for shard ${shard}.`);
    return lane;
  }

  #put(id: string, known: Entry | undefined, entry: Entry): boolean {
    if (known !== undefined) {
      this.#withdraw(known);
      this.#forget(id, known);
    } else if (this.#entries.size >= this.#capacity) return false;
    entry.handle = this.#wheel.insert(entry.due, entry);
    this.#entries.set(id, entry);
    this.#count(entry, 1);
    return true;
  }

  #withdraw(entry: Entry): void {
    if (entry.handle !== -1) return void this.#wheel.cancel(entry.handle);
    entry.isWithdrawn = true;
    this.#laneOf(entry.shard).queueOf(entry).countWithdrawn();
  }

  #forget(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#count(entry, -1);
  }

  #count({ shard, job }: Entry, by: 1 | -1): void {
    const key = keyOf(shard, job === null ? runsQueue : queueOfClass(job.class));
    this.#held.set(key, (this.#held.get(key) ?? 0) + by);
  }
}

function isSame(known: DueJob | null, job: DueJob): boolean {
  return (
    known !== null &&
    known.version === job.version &&
    known.nominal === job.nominal &&
    known.fireAt === job.fireAt &&
    known.runsMade === job.runsMade
  );
}

function secondOf(entry: Entry): number {
  return Math.floor(entry.due / 1_000);
}

/** The low 32 bits of the milliseconds that a UUID of version 7 begins with. */
function madeOf(id: string): number {
  return Number.parseInt(id.slice(4, 8) + id.slice(9, 13), 16);
}

/** The number of freed slots at the front from which a copy of the rest pays off. */
const compactFrom = 4_096;

/** First in, first out. A withdrawn entry stays in place until its turn and is skipped then. */
class ReadyQueue<Entry extends { readonly isWithdrawn: boolean }> {
  #entries: (Entry | undefined)[] = [];
  #head = 0;
  #live = 0;

  /** The number of waiting entries without the withdrawn ones. */
  get length(): number {
    return this.#live;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#live += 1;
  }

  /** Must be called once for each waiting entry that is withdrawn. */
  countWithdrawn(): void {
    this.#live -= 1;
  }

  /** Moves up to `max` entries to the end of `taken`. */
  take(max: number, taken: Entry[]): void {
    const enough = Math.min(max, this.#live);
    for (let count = 0; count < enough;) {
      const entry = this.#entries[this.#head];
      this.#entries[this.#head++] = undefined;
      if (entry === undefined || entry.isWithdrawn) continue;
      taken.push(entry);
      count += 1;
    }
    this.#live -= enough;
    if (this.#live === 0) this.#clear();
    else if (this.#head >= compactFrom && this.#head * 2 >= this.#entries.length) this.#compact();
  }

  #clear(): void {
    this.#entries = [];
    this.#head = 0;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}

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

function keyOf(shard: number, queue: DueQueue): number {
  return shard * dueQueues.length + queue;
}

/** The queue of jobs of this class. */
export function queueOfClass(urgency: number): DueQueue {
  return urgency === 0 || urgency === 1 ? urgency : 2;
}
