import { type Instant, TimingWheel } from "@carillon/core";
import type { DueJob } from "../store/entities/due.js";
import type { DueRun } from "../store/entities/runs.js";

type Entry = { readonly kind: "job"; readonly job: DueJob } | { readonly kind: "run"; readonly run: DueRun };

export interface DueNow {
  /** High priority first, then by time. */
  readonly jobs: readonly DueJob[];
  readonly runs: readonly DueRun[];
}

/**
 * The near future of the shards this node owns, in a timing wheel: jobs by their fire time, delayed and retrying runs by
 * theirs. A cache: whatever is stale in it is refused by the statement that acts on it.
 */
export class DueWindow {
  readonly #wheel: TimingWheel<Entry>;
  readonly #handles = new Map<string, { handle: number; stamp: string; shard: number }>();

  constructor(now: Instant) {
    this.#wheel = new TimingWheel<Entry>({ startMs: now });
  }

  get size(): number {
    return this.#handles.size;
  }

  /** -1 when nothing waits. */
  get nextDue(): Instant {
    return this.#wheel.nextDue();
  }

  putJob(job: DueJob): void {
    this.#put(job.jobId, `${job.version}:${job.nominal}:${job.fireAt}`, job.shard, job.fireAt, { kind: "job", job });
  }

  putRun(run: DueRun): void {
    this.#put(run.id, `${run.runAt}`, run.shard, run.runAt, { kind: "run", run });
  }

  /** Forgets what belongs to shards that moved away. */
  dropShards(shards: ReadonlySet<number>): void {
    for (const [id, { handle, shard }] of this.#handles) {
      if (!shards.has(shard)) continue;
      this.#wheel.cancel(handle);
      this.#handles.delete(id);
    }
  }

  takeDue(now: Instant, max: number): DueNow {
    const jobs: DueJob[] = [];
    const runs: DueRun[] = [];
    for (const entry of this.#wheel.advance(now, max)) {
      if (entry.kind === "job") {
        this.#handles.delete(entry.job.jobId);
        jobs.push(entry.job);
      } else {
        this.#handles.delete(entry.run.id);
        runs.push(entry.run);
      }
    }
    jobs.sort((a, b) => a.class - b.class || a.fireAt - b.fireAt);
    return { jobs, runs };
  }

  #put(id: string, stamp: string, shard: number, due: Instant, entry: Entry): void {
    const known = this.#handles.get(id);
    if (known?.stamp === stamp) return;
    if (known !== undefined) this.#wheel.cancel(known.handle);
    this.#handles.set(id, { handle: this.#wheel.insert(due, entry), stamp, shard });
  }
}
