import type { Clock, DurationMs } from "@carillon/core";
import type { Queryable, Queued } from "@carillon/store";
import type { Settler } from "./settler.js";

export interface OverlapAdmitterOptions {
  readonly db: Queryable;
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly settler: Settler;
  readonly clock: Pick<Clock, "monotonic">;
  /** The shards of this node, whose waiting runs it looks after. */
  readonly shards: () => readonly number[];
  readonly onQueued: (queued: readonly Queued[]) => void;
}

/** Jobs of one transaction. */
const batch = 500;
const sweepEveryMs: DurationMs = 1_000;
/** Who was held by somebody is asked again soon, this often; then the sweep finds it. */
const mostTries = 3;
const tryAgainMs: DurationMs = 20;

/**
 * Starts runs that waited for another run of their job, once that has ended: when told so, and by a look at all of this
 * node's shards every second, which also finds what a node left that died between the two.
 */
export class OverlapAdmitter {
  readonly #options: OverlapAdmitterOptions;
  /** Jobs to ask, with how often they were asked. */
  readonly #asked = new Map<string, number>();
  #nextSweep = 0;

  constructor(options: OverlapAdmitterOptions) {
    this.#options = options;
  }

  /** Runs of these jobs ended. */
  hint(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.#asked.set(jobId, 0);
  }

  /** One bounded pass; answers how many runs may start now. */
  async tick(): Promise<number> {
    const now = this.#options.clock.monotonic();
    if (now >= this.#nextSweep) {
      this.#nextSweep = now + sweepEveryMs;
      this.hint(await this.#sweep());
    }
    const tries = new Map([...this.#asked].slice(0, batch));
    if (tries.size === 0) return 0;
    for (const jobId of tries.keys()) this.#asked.delete(jobId);
    const { admitted, held } = await this.#admit([...tries.keys()]);
    for (const jobId of held) {
      const count = (tries.get(jobId) ?? 0) + 1;
      if (count < mostTries && !this.#asked.has(jobId)) this.#asked.set(jobId, count);
    }
    this.#options.onQueued(admitted);
    return admitted.length;
  }

  get idleMs(): DurationMs {
    if (this.#asked.size === 0) return Math.max(0, this.#nextSweep - this.#options.clock.monotonic());
    return [...this.#asked.values()].some((count) => count === 0) ? 0 : tryAgainMs;
  }

  #sweep(): Promise<string[]> {
    const { db, settler, shards } = this.#options;
    return settler.reads.admissible(db, shards(), batch);
  }

  /** The live runs are read after the jobs are locked: whoever makes or admits one waits for it, or is skipped. */
  #admit(jobIds: readonly string[]): Promise<{ admitted: Queued[]; held: string[] }> {
    const { settle, settler } = this.#options;
    return settle(async (tx) => {
      const locked = new Set(await settler.reads.lockFree(tx, jobIds));
      const held = jobIds.filter((jobId) => !locked.has(jobId));
      if (locked.size === 0) return { admitted: [], held };
      const live = await settler.reads.live(tx, [...locked], { hold: false });
      const busy = new Set(live.filter((run) => run.status !== "blocked").map((run) => run.jobId));
      const oldest = new Map<string, string>();
      for (const { jobId, id } of live) if (!busy.has(jobId) && !oldest.has(jobId)) oldest.set(jobId, id);
      return { admitted: await settler.writes.admitRuns(tx, [...oldest.values()]), held };
    });
  }
}
