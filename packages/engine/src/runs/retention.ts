import type { DurationMs } from "@carillon/core";
import type { DayPartitions, LedgerKey } from "@carillon/store";
import type { EngineContext } from "../context.js";

type RetentionContext = {
  readonly store: Pick<
    EngineContext["store"],
    "historyDays" | "logDays" | "sweeps" | "receipts" | "retention" | "dedupes"
  >;
  readonly limits: Pick<EngineContext["limits"], "historyDays" | "logDays" | "sweepBatch">;
  readonly now: EngineContext["now"];
  readonly membership: EngineContext["membership"];
  readonly loops: Pick<EngineContext["loops"], "register">;
};

const daysAhead = 14;
const dayMs: DurationMs = 86_400_000;
const hourMs: DurationMs = 3_600_000;
/** Between two rounds through the tables. */
const restMs: DurationMs = 60_000;
const dedupeIdleMs: DurationMs = 10_000;
const lowestId = "00000000-0000-0000-0000-000000000000";

/**
 * Makes the day partitions of history and logs ahead of time and drops the old ones; removes records that are kept no longer. Sweeps go
 * round their tables some rows at a time, so that ending a run costs nothing more. They run on the owner of the first shard, so that one node
 * does the work.
 */
export class Retention {
  readonly #context: RetentionContext;
  #states = lowestId;
  #steps = lowestId;
  #callbacks = "";
  #ledger: LedgerKey | null = null;
  #jobs: string | null = null;

  constructor(context: RetentionContext) {
    this.#context = context;
    context.loops.register("history", () => this.keepDays());
    context.loops.register("records", () => this.sweepRecords());
    context.loops.register("jobs", () => this.sweepJobs());
    context.loops.register("dedupe", () => this.sweepDedupeKeys());
  }

  /** The days of a table exist before the first row of that day is written. */
  async keepDays(): Promise<DurationMs> {
    const { store, limits } = this.#context;
    await this.#keepDaysOf(store.historyDays, limits.historyDays);
    await this.#keepDaysOf(store.logDays, limits.logDays);
    return hourMs;
  }

  /** From yesterday, because the database's clock may be a little behind. `keptDays`: how many days before today stay. */
  async #keepDaysOf(days: DayPartitions, keptDays: number): Promise<void> {
    const { now } = this.#context;
    await days.ensure(now() - dayMs, daysAhead + 1);
    await days.drop(now() - keptDays * dayMs);
  }

  /** Handler state and callbacks of runs that have ended, expired keys, and failures that history has forgotten. */
  async sweepRecords(): Promise<DurationMs> {
    if (!this.#isElected) return restMs;
    const { sweeps, receipts } = this.#context.store;
    const batch = this.#batch;
    const states = await sweeps.states(this.#states, batch);
    const steps = await sweeps.steps(this.#steps, batch);
    const onces = await sweeps.onces(batch);
    const keys = await receipts.sweep(batch);
    const failures = await sweeps.failures(this.#historyStart, batch);
    const callbacks = await sweeps.callbacks(this.#callbacks, batch);
    this.#callbacks = callbacks ?? "";
    this.#states = states ?? lowestId;
    this.#steps = steps ?? lowestId;
    const isThrough = states === null && steps === null && callbacks === null;
    return isThrough && Math.max(onces, keys, failures) < batch ? restMs : 0;
  }

  /** Records of jobs from before history begins: entries of the ledger, ended backfills, ended jobs. Another part follows at once only after one that removed rows. */
  async sweepJobs(): Promise<DurationMs> {
    if (!this.#isElected) return restMs;
    const { retention } = this.#context.store;
    const [before, batch] = [this.#historyStart, this.#batch];
    const jobs = await retention.jobs(this.#jobs, before, batch);
    this.#jobs = jobs.next;
    const ledger = await retention.ledger(this.#ledger, before, batch);
    this.#ledger = ledger.next;
    const backfills = await retention.backfills(before, batch);
    return jobs.deleted + ledger.deleted + backfills > 0 ? 0 : restMs;
  }

  /** Dedupe keys whose run counts no more. */
  async sweepDedupeKeys(): Promise<DurationMs> {
    if (!this.#isElected) return dedupeIdleMs;
    const { gone, kept } = await this.#context.store.dedupes.sweep(this.#batch);
    return gone + kept < this.#batch ? dedupeIdleMs : 0;
  }

  get #isElected(): boolean {
    return this.#context.membership().epochs.has(0);
  }

  get #batch(): number {
    return this.#context.limits.sweepBatch;
  }

  get #historyStart(): number {
    return this.#context.now() - this.#context.limits.historyDays * dayMs;
  }
}
