import type { DurationMs } from "@carillon/core";
import type { EngineContext } from "../context.js";
import { announceApplied, type JobUnitOfWork } from "../jobs/transaction/job-unit-of-work.js";
import type { UpstreamEnds } from "./upstream-ends.js";

export type DependencyRunnerContext = Pick<
  EngineContext,
  "clock" | "db" | "emit" | "events" | "loops" | "ownShards" | "store" | "wakeups"
>;

export interface DependencyRunnerDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly upstreamEnds: Pick<UpstreamEnds, "process" | "write">;
}

/** Jobs of one transaction, and upstream ends that they process in it. */
const maxJobs = 100;
const maxEnds = 1_000;
const sweepEveryMs: DurationMs = 500;
/** After the end of a run on this node the next pass waits so long: it takes the ends of this time together. */
const gatherMs: DurationMs = 10;

/**
 * Starts jobs that wait for others. The statement that ends a run stores an end for each waiting job; the runner processes these ends under the
 * lock of the waiting job: those of this node's shards every half second, which also finds the ends that a dead node left, and those of all
 * shards as soon as runs end on this node, unless no job waits for another.
 */
export class DependencyRunner {
  readonly #context: DependencyRunnerContext;
  readonly #deps: DependencyRunnerDeps;
  #nextSweep = 0;
  #lastPass = 0;
  #isHinted = false;
  #isUsed = false;

  constructor(context: DependencyRunnerContext, deps: DependencyRunnerDeps) {
    this.#context = context;
    this.#deps = deps;
    const { loops, events } = context;
    loops.register("dependencies", async () => {
      await this.tick();
      return this.idleMs;
    });
    events.onRunEnd(() => {
      if (this.hint()) loops.wake("dependencies");
    });
  }

  /** Runs ended on this node. Returns whether a pass is needed. */
  hint(): boolean {
    if (!this.#isUsed || this.#isHinted) return false;
    this.#isHinted = true;
    return true;
  }

  /** One bounded pass; returns how many ends were processed. */
  async tick(): Promise<number> {
    const { db, store, clock, ownShards } = this.#context;
    const now = clock.monotonic();
    const isSweep = now >= this.#nextSweep;
    if (isSweep) {
      this.#nextSweep = now + sweepEveryMs;
      this.#isUsed = await store.upstreamEnds.hasAny(db);
    } else if (!this.#isHinted || now - this.#lastPass < gatherMs) return 0;
    const shards = this.#isHinted ? null : ownShards();
    this.#isHinted = false;
    this.#lastPass = now;
    if (!this.#isUsed) return 0;
    const jobs = await store.upstreamEnds.waitingJobs(db, shards, maxEnds);
    let count = 0;
    for (let first = 0; first < jobs.length; first += maxJobs) {
      count += await this.#process(jobs.slice(first, first + maxJobs));
    }
    // One pass may not have processed all of them.
    if (count > 0) this.#isHinted = true;
    return count;
  }

  get idleMs(): DurationMs {
    const now = this.#context.clock.monotonic();
    const next = this.#isHinted ? this.#lastPass + gatherMs : this.#nextSweep;
    return Math.max(0, next - now);
  }

  /** Reads the ends after the jobs are locked: of two nodes the second finds none left. */
  async #process(jobIds: readonly string[]): Promise<number> {
    const { unitOfWork, upstreamEnds } = this.#deps;
    const { applied, count } = await unitOfWork.transaction(async (tx) => {
      const locked = await unitOfWork.reads.lockFree(tx, jobIds);
      const drafts = await unitOfWork.open(tx, locked);
      const processed = await upstreamEnds.process(tx, drafts, maxEnds);
      const written = await unitOfWork.write(tx, drafts);
      await upstreamEnds.write(tx, processed);
      return { applied: written, count: processed.ends.length };
    });
    announceApplied(this.#context, [], applied);
    return count;
  }
}
