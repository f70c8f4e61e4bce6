import type { DurationMs } from "@carillon/core";
import type { Queryable, Queued } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { JobUnitOfWork } from "./job-unit-of-work.js";

export type OverlapContext = Pick<EngineContext, "ownShards"> & {
  readonly db: Queryable;
  readonly clock: Pick<EngineContext["clock"], "monotonic">;
  readonly loops: Pick<EngineContext["loops"], "register" | "wake">;
  readonly wakeups: Pick<EngineContext["wakeups"], "on" | "runsQueued">;
};

/** Jobs of one transaction. */
const batch = 500;
const sweepEveryMs: DurationMs = 1_000;
/** A job whose row another transaction holds is tried so often, at this interval; after that the sweep finds it. */
const maxTries = 3;
const retryMs: DurationMs = 20;

/**
 * Starts runs that waited for another run of their job once that run has ended. It acts on the wakeup "overlap.freed", and every second it
 * sweeps the shards of this node, which also finds the runs of a node that died before it could publish the wakeup.
 */
export class OverlapAdmitter {
  readonly #context: OverlapContext;
  readonly #unitOfWork: JobUnitOfWork;
  /** The jobs to try, with the number of failed tries. */
  readonly #jobs = new Map<string, number>();
  #nextSweep = 0;

  constructor(context: OverlapContext, { unitOfWork }: { readonly unitOfWork: JobUnitOfWork }) {
    this.#context = context;
    this.#unitOfWork = unitOfWork;
    const { loops, wakeups } = context;
    loops.register("overlap", async () => {
      await this.tick();
      return this.idleMs;
    });
    wakeups.on("overlap.freed", (jobIds) => {
      this.hint(jobIds);
      loops.wake("overlap");
    });
  }

  /** Runs of these jobs ended. */
  hint(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.#jobs.set(jobId, 0);
  }

  /** One bounded pass; returns how many runs may start now. */
  async tick(): Promise<number> {
    const { clock, db, ownShards, wakeups } = this.#context;
    const now = clock.monotonic();
    if (now >= this.#nextSweep) {
      this.#nextSweep = now + sweepEveryMs;
      this.hint(await this.#unitOfWork.reads.admissible(db, ownShards(), batch));
    }
    const tries = new Map([...this.#jobs].slice(0, batch));
    if (tries.size === 0) return 0;
    for (const jobId of tries.keys()) this.#jobs.delete(jobId);
    const { admitted, held } = await this.#admit([...tries.keys()]);
    for (const jobId of held) {
      const count = (tries.get(jobId) ?? 0) + 1;
      if (count < maxTries && !this.#jobs.has(jobId)) this.#jobs.set(jobId, count);
    }
    wakeups.runsQueued(admitted);
    return admitted.length;
  }

  get idleMs(): DurationMs {
    if (this.#jobs.size === 0) return Math.max(0, this.#nextSweep - this.#context.clock.monotonic());
    return [...this.#jobs.values()].some((count) => count === 0) ? 0 : retryMs;
  }

  /** Reads the live runs after the jobs are locked: a transaction that makes or admits a run holds the job's row. */
  #admit(jobIds: readonly string[]): Promise<{ admitted: Queued[]; held: string[] }> {
    const { reads, writes } = this.#unitOfWork;
    return this.#unitOfWork.transaction(async (tx) => {
      const locked = new Set(await reads.lockFree(tx, jobIds));
      const held = jobIds.filter((jobId) => !locked.has(jobId));
      if (locked.size === 0) return { admitted: [], held };
      const live = await reads.live(tx, [...locked], { hold: false });
      const busy = new Set(live.filter((run) => run.status !== "blocked").map((run) => run.jobId));
      const oldest = new Map<string, string>();
      for (const { jobId, id } of live) if (!busy.has(jobId) && !oldest.has(jobId)) oldest.set(jobId, id);
      return { admitted: await writes.admitRuns(tx, [...oldest.values()]), held };
    });
  }
}
