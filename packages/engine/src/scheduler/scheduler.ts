import { type DurationMs, type Instant, occurrenceRunId, rankOf } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { OnEngineEvent } from "../events.js";
import type { DueJob, DueStore, Fence, Fired, FireRow, SkipRow } from "../store/entities/due.js";
import type { DueRun, Queued, RunStore } from "../store/entities/runs.js";
import { DueWindow } from "./due-window.js";
import { settleMisfire } from "./misfire.js";
import { ScheduleCache } from "./schedule-cache.js";

export interface SchedulerOptions {
  readonly due: DueStore;
  readonly runs: Pick<RunStore, "loadDue" | "promote">;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly onQueued: (queued: readonly Queued[]) => void;
  readonly onEvent: OnEngineEvent;
  readonly limits?: Partial<SchedulerLimits>;
}

export interface SchedulerLimits {
  /** How far ahead due times are held in memory. */
  readonly windowMs: DurationMs;
  /** Rows of one fire or promotion. */
  readonly batch: number;
  readonly loadPerShard: number;
  readonly compiledSchedules: number;
  /** After a row that was locked, not yet due or refused: how long until its shard is read again. */
  readonly lookAgainMs: DurationMs;
}

const defaultLimits: SchedulerLimits = {
  windowMs: 30_000,
  batch: 2_000,
  loadPerShard: 2_000,
  compiledSchedules: 200_000,
  lookAgainMs: 100,
};

export interface TickReport {
  readonly fired: number;
  readonly promoted: number;
  readonly skipped: number;
  readonly loaded: number;
}

/** Fires what is due in the shards this node owns. One tick is one bounded pass; somebody else paces it. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #limits: SchedulerLimits;
  readonly #window: DueWindow;
  readonly #schedules: ScheduleCache;
  /** Shards to read again, and not before when. */
  readonly #lookAgain = new Map<number, Instant>();
  #windowEnd: Instant;
  #nextLook: Instant;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    const now = options.now();
    this.#window = new DueWindow({ now });
    this.#schedules = new ScheduleCache(this.#limits.compiledSchedules);
    this.#windowEnd = now;
    this.#nextLook = now;
  }

  async tick(): Promise<TickReport> {
    const loaded = await this.#load();
    const due = this.#window.takeDue(this.#options.now(), this.#limits.batch);
    const promoted = await this.#promote(due.runs);
    const { fired, skipped } = await this.#settle(due.jobs);
    return { fired, promoted, skipped, loaded };
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    const times = [this.#nextLook, ...this.#lookAgain.values()];
    if (this.#window.nextDue !== -1) times.push(this.#window.nextDue);
    return Math.max(0, Math.min(...times) - this.#options.now());
  }

  /** A job was made or changed by this node: no need to wait for the next look. */
  hintJob(job: DueJob): void {
    if (job.fireAt <= this.#windowEnd && this.#owns(job.shard)) this.#window.putJob(job);
  }

  hintRun(run: DueRun): void {
    if (run.runAt <= this.#windowEnd && this.#owns(run.shard)) this.#window.putRun(run);
  }

  /** Something changed in these shards, or they have just become ours: read them again. */
  hintShards(shards: readonly number[]): void {
    const now = this.#options.now();
    for (const shard of shards) this.#lookAgain.set(shard, now);
  }

  forgetShards(shards: readonly number[]): void {
    this.#window.dropShards(new Set(shards));
    for (const shard of shards) this.#lookAgain.delete(shard);
  }

  #owns(shard: number): boolean {
    return this.#options.membership().epochs.has(shard);
  }

  async #load(): Promise<number> {
    const now = this.#options.now();
    const held = [...this.#options.membership().epochs.keys()];
    const isFullLook = now >= this.#nextLook;
    const shards = isFullLook
      ? held
      : held.filter((id) => (this.#lookAgain.get(id) ?? Number.POSITIVE_INFINITY) <= now);
    for (const [id, at] of this.#lookAgain) if (isFullLook || at <= now) this.#lookAgain.delete(id);
    if (isFullLook) {
      this.#nextLook = now + this.#limits.windowMs / 2;
      this.#windowEnd = now + this.#limits.windowMs;
    }
    return shards.length === 0 ? 0 : this.#read(shards, now);
  }

  async #read(shards: readonly number[], now: Instant): Promise<number> {
    const { due, runs } = this.#options;
    const { loadPerShard } = this.#limits;
    try {
      const jobs = await due.load(shards, this.#windowEnd, loadPerShard);
      for (const job of jobs) this.#window.putJob(job);
      const later = await runs.loadDue(shards, this.#windowEnd, loadPerShard);
      for (const run of later) this.#window.putRun(run);
      this.#readFullShardsSoon([...jobs, ...later], now);
      return jobs.length + later.length;
    } catch (error) {
      for (const shard of shards) this.#lookAgain.set(shard, now + this.#limits.lookAgainMs);
      throw error;
    }
  }

  /** A shard that had more than one read may bring is not known to the end of the window. */
  #readFullShardsSoon(rows: readonly { shard: number }[], now: Instant): void {
    const counts = new Map<number, number>();
    for (const { shard } of rows) counts.set(shard, (counts.get(shard) ?? 0) + 1);
    for (const [shard, count] of counts) {
      if (count >= this.#limits.loadPerShard) this.#lookAgain.set(shard, now + 1_000);
    }
  }

  async #promote(runs: readonly DueRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const queued = await this.#guard(runs, () =>
      this.#options.runs.promote(
        this.#fenceOf(runs),
        runs.map((run) => run.id),
      ),
    );
    this.#options.onQueued(queued);
    this.#reportRefused("run.promote", runs, new Set(queued.map((run) => run.id)), (run) => run.id);
    return queued.length;
  }

  async #settle(jobs: readonly DueJob[]): Promise<{ fired: number; skipped: number }> {
    const now = this.#options.now();
    const fires: FireRow[] = [];
    const skips: SkipRow[] = [];
    for (const job of jobs) {
      const settlement = settleMisfire(this.#schedules.of(job), job.nominal, now);
      if (settlement.kind === "fire") fires.push(this.#fireRow(job));
      else
        skips.push({
          job,
          through: settlement.through,
          count: settlement.count,
          reason: "missed",
          ...this.#nextOf(job, settlement.next),
        });
    }
    const skipped = skips.length === 0 ? 0 : await this.#skip(skips);
    const fired = fires.length === 0 ? 0 : await this.#fire(fires);
    return { fired, skipped };
  }

  #fireRow(job: DueJob): FireRow {
    const next = this.#nextOf(job, this.#schedules.of(job).nextNominal(job.nominal));
    const rank = rankOf({ dueMs: job.fireAt, priority: job.priority });
    return { job, runId: occurrenceRunId(job.jobId, job.nominal, "schedule"), rank, ...next };
  }

  #nextOf(job: DueJob, nominal: Instant): { nextNominal: Instant | null; nextFireAt: Instant | null } {
    if (nominal === -1) return { nextNominal: null, nextFireAt: null };
    return { nextNominal: nominal, nextFireAt: nominal + this.#schedules.of(job).jitterAt(nominal) };
  }

  async #fire(rows: readonly FireRow[]): Promise<number> {
    const jobs = rows.map((row) => row.job);
    const fired = await this.#guard(jobs, () => this.#options.due.fire(this.#fenceOf(jobs), rows));
    const byJob = new Map(fired.map((one) => [one.jobId, one]));
    for (const row of rows) {
      const one = byJob.get(row.job.jobId);
      if (one === undefined) continue;
      this.#announce(row, one);
      if (!one.isLast) this.#putNext(row);
    }
    this.#options.onQueued(
      fired.flatMap((one) =>
        one.runId === null || one.lane === null || one.rank === null
          ? []
          : [{ id: one.runId, lane: one.lane, rank: one.rank }],
      ),
    );
    this.#reportRefused("due.fire", jobs, new Set(byJob.keys()), (job) => job.jobId);
    return fired.length;
  }

  async #skip(rows: readonly SkipRow[]): Promise<number> {
    const jobs = rows.map((row) => row.job);
    const moved = new Set(await this.#guard(jobs, () => this.#options.due.skip(this.#fenceOf(jobs), rows)));
    for (const row of rows) {
      if (!moved.has(row.job.jobId)) continue;
      this.#options.onEvent({ type: "occurrence.skipped", jobId: row.job.jobId, reason: row.reason, count: row.count });
      this.#putNext(row);
    }
    this.#reportRefused("due.skip", jobs, moved, (job) => job.jobId);
    return moved.size;
  }

  #announce(row: FireRow, fired: Fired): void {
    if (fired.runId === null || fired.createdAt === null) return;
    const lateMs = Math.max(0, fired.createdAt - row.job.fireAt);
    this.#options.onEvent({
      type: "run.fired",
      runId: fired.runId,
      jobId: row.job.jobId,
      nominal: row.job.nominal,
      lateMs,
    });
  }

  #putNext(row: FireRow | SkipRow): void {
    if (row.nextNominal === null || row.nextFireAt === null || row.nextFireAt > this.#windowEnd) return;
    this.#window.putJob({ ...row.job, nominal: row.nextNominal, fireAt: row.nextFireAt });
  }

  #fenceOf(rows: readonly { shard: number }[]): Fence {
    const { nodeId, epochs } = this.#options.membership();
    const shards = [...new Set(rows.map((row) => row.shard))].flatMap((id) => {
      const epoch = epochs.get(id);
      return epoch === undefined ? [] : [{ id, epoch }];
    });
    return { node: nodeId, shards };
  }

  /** After an error the outcome is unknown: what was tried is read again. */
  async #guard<Result>(rows: readonly { shard: number }[], write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      this.#readAgain(rows);
      throw error;
    }
  }

  #reportRefused<Row extends { shard: number }>(
    statement: string,
    rows: readonly Row[],
    done: ReadonlySet<string>,
    idOf: (row: Row) => string,
  ): void {
    const refused = rows.filter((row) => !done.has(idOf(row)));
    if (refused.length === 0) return;
    this.#readAgain(refused);
    this.#options.onEvent({ type: "write.refused", statement, count: refused.length });
  }

  #readAgain(rows: readonly { shard: number }[]): void {
    const at = this.#options.now() + this.#limits.lookAgainMs;
    for (const { shard } of rows) this.#lookAgain.set(shard, at);
  }
}
