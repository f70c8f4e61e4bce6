import type { DurationMs, Instant } from "@carillon/core";
import type { DueJob, DueRun, Fence, PromotedRun, Queued } from "@carillon/store";
import { type RankRun, rankByPriority } from "../catalog/rank-run.js";
import { fenceOf } from "../cluster/coordinator.js";
import type { Membership } from "../context.js";
import type { OnEngineEvent } from "../events.js";
import { usesCalendars } from "../schedules/calendar-notes.js";
import type { FireStore } from "../schedules/fire-store.js";
import { type CalendarSource, noCalendars } from "../schedules/named-calendars.js";
import { ScheduleCache } from "../schedules/schedule-cache.js";
import { DuePlanner } from "./due-planner.js";
import { type DueNow, DueWindow } from "./due-window.js";
import { DueWriter } from "./due-writer.js";
import { WindowCache } from "../schedules/window-cache.js";
import { type AheadLimits, RunPromoter } from "./run-promoter.js";
import { type ReadLimits, ShardReader, rowOfJob, rowOfRun } from "./shard-reader.js";

export interface SchedulerOptions {
  readonly store: FireStore;
  readonly calendars?: CalendarSource;
  /** Ends the pauses that expired; returns the resumed jobs. */
  readonly resumeExpired?: (fence: Fence, jobs: readonly DueJob[]) => Promise<readonly string[]>;
  /**
   * Jobs that were computed with an older version of a calendar settle the occurrences that were due by it, and get their next time by the new
   * one. Returns those that were behind: their rows in memory are stale.
   */
  readonly follow?: (jobIds: readonly string[]) => Promise<readonly string[]>;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly membership: () => Membership;
  /** By priority when this is left out. */
  readonly rank?: RankRun;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Delayed and retrying runs were queued, some of them ahead of their time. Without this none is, and onQueued is called. */
  readonly onPromoted?: (runs: readonly PromotedRun[]) => void;
  /** Running runs were asked to stop. */
  readonly onStopped?: (runIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
  readonly limits?: Partial<SchedulerLimits>;
}

export interface SchedulerLimits extends ReadLimits, AheadLimits {
  /** Rows of one fire or promotion. */
  readonly batch: number;
  /** Batches that are written at a time, each on a connection of its own. */
  readonly inFlight: number;
  /** Batches of one tick; reads and new due times are handled between ticks. */
  readonly batchesPerTick: number;
  readonly compiledSchedules: number;
}

const defaultLimits: SchedulerLimits = {
  windowMs: 30_000,
  batch: 2_000,
  inFlight: 2,
  batchesPerTick: 32,
  windowEntries: 128_000,
  compiledSchedules: 20_000,
  rereadAfterMs: 100,
  aheadMs: 1_000,
  maxAhead: 10_000,
};

export interface TickReport {
  readonly fired: number;
  readonly promoted: number;
  readonly passed: number;
  readonly loaded: number;
}

/** Fires due jobs and queues delayed runs in the shards that this node owns. One tick is one bounded pass; its loop paces it. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #limits: SchedulerLimits;
  readonly #window: DueWindow;
  readonly #reader: ShardReader;
  readonly #maintenance: WindowCache;
  readonly #planner: DuePlanner;
  readonly #writer: DueWriter;
  readonly #promoter: RunPromoter;
  /** The revision of the windows by which the held occurrences of a shard were last released. */
  readonly #released = new Map<number, number>();

  constructor(options: SchedulerOptions) {
    const { store, calendars = noCalendars, now, membership, onQueued, onEvent } = options;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    if (options.onPromoted === undefined) this.#limits = { ...this.#limits, aheadMs: 0 };
    const { inFlight: lanes, windowEntries, aheadMs } = this.#limits;
    // New entries may be due before those that fill the window: there is room for as many again.
    this.#window = new DueWindow({ now: now(), lanes, capacity: windowEntries * 2, aheadMs });
    this.#reader = new ShardReader({ store, window: this.#window, now, membership, limits: this.#limits });
    this.#promoter = new RunPromoter({
      store,
      now,
      membership,
      limits: this.#limits,
      onPromoted: options.onPromoted ?? onQueued,
      onWaiting: (run) => {
        if (!this.#window.putRun(run, true)) this.#reader.putOff(rowOfRun(run));
      },
      onRefused: (runs) => this.#refused("run.promote", runs),
    });
    this.#maintenance = new WindowCache(store, calendars);
    this.#planner = new DuePlanner({
      schedules: new ScheduleCache(this.#limits.compiledSchedules),
      calendars,
      maintenance: this.#maintenance,
      rank: options.rank ?? rankByPriority,
    });
    this.#writer = new DueWriter({
      store,
      now,
      membership,
      admits: (job) => this.#reader.admits(rowOfJob(job)),
      onNext: (job) => this.jobDue(job),
      onRefused: (statement, jobs) => this.#refused(statement, jobs),
      onQueued,
      onStopped: (runIds) => options.onStopped?.(runIds),
      onEvent,
    });
  }

  async tick(): Promise<TickReport> {
    const began = this.#options.now();
    if (this.#reader.isFullScanDue) this.#maintenance.markStale();
    await this.#maintenance.read();
    await this.#release();
    const report = await this.#readAndWork();
    this.#options.onEvent({ type: "scheduler.ticked", durationMs: this.#options.now() - began, ...report });
    return report;
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    const { nextDue } = this.#window;
    const { nextRead } = this.#reader;
    return Math.max(0, (nextDue === -1 ? nextRead : Math.min(nextDue, nextRead)) - this.#options.now());
  }

  /** A job was made or changed by this node: it need not wait for the next scan. */
  jobDue(job: DueJob): void {
    const row = rowOfJob(job);
    if (!this.#reader.admits(row) || !this.#owns(row.shard)) return;
    if (!this.#window.putJob(job)) this.#reader.putOff(row);
  }

  runDue(run: DueRun): void {
    const row = rowOfRun(run);
    if (!this.#reader.admits(row) || !this.#owns(row.shard)) return;
    if (!this.#window.putRun(run)) this.#reader.putOff(row);
  }

  /** Something changed in these shards, or they have just become ours: read them again. */
  readShards(shards: readonly number[]): void {
    this.#reader.readNow(shards);
  }

  /** The maintenance windows changed. */
  windowsChanged(): void {
    this.#maintenance.markStale();
  }

  forgetShards(shards: readonly number[]): void {
    this.#window.dropShards(new Set(shards));
    this.#reader.forget(shards);
    for (const shard of shards) this.#released.delete(shard);
  }

  #owns(shard: number): boolean {
    return this.#options.membership().epochs.has(shard);
  }

  /** Releases occurrences that are held by windows of an older revision. */
  async #release(): Promise<void> {
    const { revision } = this.#maintenance;
    const { membership, store } = this.#options;
    const rows = membership().shards.flatMap((shard) => (this.#released.get(shard) === revision ? [] : [{ shard }]));
    if (rows.length === 0) return;
    this.#reader.readNow(await store.release({ fence: fenceOf(membership(), rows), windows: revision }));
    for (const { shard } of rows) this.#released.set(shard, revision);
  }

  /** While a herd is written, reads go on beside it. */
  async #readAndWork(): Promise<TickReport> {
    if (this.#window.readyAt(this.#options.now()) <= this.#limits.batch) {
      const loaded = await this.#reader.read();
      return { ...(await this.#work()), loaded };
    }
    const worker = { isDone: false };
    const read = async (): Promise<number> => {
      let loaded = 0;
      while (!worker.isDone) {
        const rows = await this.#reader.read();
        if (rows === 0) break;
        loaded += rows;
      }
      return loaded;
    };
    const work = this.#work().finally(() => (worker.isDone = true));
    const [loaded, worked] = await Promise.allSettled([read(), work]);
    if (loaded.status === "rejected") throw loaded.reason;
    if (worked.status === "rejected") throw worked.reason;
    return { ...worked.value, loaded: loaded.value };
  }

  /** Takes due batches until none is left, a few at a time: they have no job in common. */
  async #work(): Promise<Omit<TickReport, "loaded">> {
    const { batch, batchesPerTick, inFlight } = this.#limits;
    const total = { fired: 0, promoted: 0, passed: 0 };
    let batches = batchesPerTick;
    const work = async (lane: number): Promise<void> => {
      while (batches > 0) {
        batches -= 1;
        await this.#maintenance.read();
        const due = this.#window.takeDue(this.#options.now(), batch, lane);
        if (due.jobs.length + due.runs.length === 0) return;
        try {
          total.promoted += await this.#promoter.promote(due.runs);
          const { fired, passed } = await this.#settle(due.jobs);
          total.fired += fired;
          total.passed += passed;
        } catch (error) {
          // The outcome of this batch is unknown, or it was not tried.
          batches = 0;
          this.#reader.readAgain(rowsOf(due));
          throw error;
        } finally {
          this.#window.release(due);
        }
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: inFlight }, (_, lane) => work(lane)));
    for (const one of lanes) if (one.status === "rejected") throw one.reason;
    return total;
  }

  async #settle(due: readonly DueJob[]): Promise<{ fired: number; passed: number }> {
    // Read before the check: a calendar that changes after it has another revision, and the fire is refused.
    const { revision } = this.#maintenance;
    const jobs = await this.#upToDate(due);
    if (jobs.length === 0) return { fired: 0, passed: 0 };
    const steps = this.#planner.plan(jobs, this.#options.now(), revision);
    const written = await this.#writer.write(steps);
    await this.#resume(steps.expired);
    if (steps.broken.length === 0) return written;
    // A calendar that was made a moment ago is no reason to stop a job.
    await (this.#options.calendars ?? noCalendars).refresh();
    const broken = steps.broken.map((one) => one.job);
    const again = this.#planner.plan(broken, this.#options.now(), revision);
    const late = await this.#writer.write(again);
    await this.#writer.quarantine(again.broken);
    return { fired: written.fired + late.fired, passed: written.passed + late.passed };
  }

  /** The jobs without those whose calendars changed since their next time was computed: these are read again when they have followed. */
  async #upToDate(jobs: readonly DueJob[]): Promise<readonly DueJob[]> {
    const { follow } = this.#options;
    const ids = jobs.flatMap((job) => (usesCalendars(job.definition.schedule) ? [job.jobId] : []));
    if (follow === undefined || ids.length === 0) return jobs;
    const behind = new Set(await follow(ids));
    if (behind.size === 0) return jobs;
    this.#reader.readAgain(jobs.filter((job) => behind.has(job.jobId)));
    return jobs.filter((job) => !behind.has(job.jobId));
  }

  async #resume(jobs: readonly DueJob[]): Promise<void> {
    const { resumeExpired, membership } = this.#options;
    if (jobs.length === 0 || resumeExpired === undefined) return;
    const resumed = new Set(await resumeExpired(fenceOf(membership(), jobs), jobs));
    this.#reader.readNow(jobs.filter((job) => resumed.has(job.jobId)).map((job) => job.shard));
    const rest = jobs.filter((job) => !resumed.has(job.jobId));
    if (rest.length > 0) this.#refused("job.resume", rest);
  }

  #refused(statement: string, rows: readonly { readonly shard: number }[]): void {
    this.#reader.readAgain(rows);
    this.#maintenance.markStale();
    this.#options.onEvent({ type: "write.fenced", statement, count: rows.length });
  }
}

function rowsOf({ jobs, runs }: DueNow): { readonly shard: number }[] {
  return [...jobs, ...runs];
}
