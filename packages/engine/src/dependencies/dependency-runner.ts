import type { Clock, DurationMs } from "@carillon/core";
import type { Settled, Settler } from "../jobs/transaction/settler.js";
import type { DependencyStore, Queryable } from "@carillon/store";
import type { Follower } from "./follower.js";

export interface AfterRunnerOptions {
  readonly db: Queryable;
  readonly dependencies: Pick<DependencyStore, "openJobs" | "anyIn">;
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly settler: Settler;
  readonly follower: Follower;
  readonly clock: Pick<Clock, "monotonic">;
  /** The shards of this node, whose jobs it looks after. */
  readonly shards: () => readonly number[];
  readonly onSettled: (settled: Settled) => void;
}

/** Jobs of one transaction, and ends that they are told in it. */
const mostJobs = 100;
const mostEnds = 1_000;
const sweepEveryMs: DurationMs = 500;
/** A run ended on this node: whoever waits for it hears of it soon, and many ends together. */
const soonMs: DurationMs = 10;

/**
 * Starts jobs that wait for others. What ends a run writes down who waits for it; this consumes what was written, under the
 * lock of the job that waits: for the shards of this node every half second, which also finds what a dead node left; and for
 * all shards when runs end here, if anybody waits for anything at all.
 */
export class AfterRunner {
  readonly #options: AfterRunnerOptions;
  #nextSweep = 0;
  #lastLook = 0;
  #isHinted = false;
  #isUsed = false;

  constructor(options: AfterRunnerOptions) {
    this.#options = options;
  }

  /** Runs ended here. Answers whether a pass is worth it. */
  hint(): boolean {
    if (!this.#isUsed || this.#isHinted) return false;
    this.#isHinted = true;
    return true;
  }

  /** One bounded pass; answers how many ends jobs were told. */
  async tick(): Promise<number> {
    const { db, dependencies, clock, shards } = this.#options;
    const now = clock.monotonic();
    const isSweep = now >= this.#nextSweep;
    if (isSweep) {
      this.#nextSweep = now + sweepEveryMs;
      this.#isUsed = await dependencies.anyIn(db);
    } else if (!this.#isHinted || now - this.#lastLook < soonMs) return 0;
    const where = this.#isHinted ? null : shards();
    this.#isHinted = false;
    this.#lastLook = now;
    if (!this.#isUsed) return 0;
    const open = await dependencies.openJobs(db, where, mostEnds);
    let told = 0;
    for (let first = 0; first < open.length; first += mostJobs) {
      told += await this.#tell(open.slice(first, first + mostJobs));
    }
    // There may be more than one pass takes.
    if (told > 0) this.#isHinted = true;
    return told;
  }

  get idleMs(): DurationMs {
    const now = this.#options.clock.monotonic();
    const next = this.#isHinted ? this.#lastLook + soonMs : this.#nextSweep;
    return Math.max(0, next - now);
  }

  /** The ends are read after the jobs are locked: of two nodes the second finds them told. */
  async #tell(jobIds: readonly string[]): Promise<number> {
    const { settle, settler, follower, onSettled } = this.#options;
    const done = await settle(async (tx) => {
      const locked = await settler.reads.lockFree(tx, jobIds);
      const drafts = await settler.open(tx, locked);
      const heard = await follower.hear(tx, drafts, mostEnds);
      const settled = await settler.write(tx, drafts);
      await follower.write(tx, heard);
      return { settled, count: heard.told.length };
    });
    onSettled(done.settled);
    return done.count;
  }
}
