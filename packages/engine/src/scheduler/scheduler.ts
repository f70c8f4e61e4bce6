import type { DurationMs } from "@carillon/core";
import type { DueJob, DueRun } from "@carillon/store";
import type { CalendarSweep } from "../calendars/calendar-sweep.js";
import { rankByPriority, type RankRun } from "../catalog/rank-run.js";
import { fenceOf } from "../cluster/shards.js";
import type { ClusterLevel } from "../cluster/cluster-level.js";
import type { EngineContext } from "../context.js";
import type { PauseExpiry } from "../jobs/change/job-pauser.js";
import { WindowCache } from "../schedules/due-rules.js";
import type { FireStore } from "../schedules/fire-store.js";
import { ScheduleCache } from "../schedules/schedule-cache.js";
import { type CalendarSource, noCalendars, usesCalendars } from "../schedules/schedule-calendars.js";
import { DuePlanner } from "./due-planner.js";
import { type DueNow, DueWindow } from "./due-window.js";
import { DueWriter } from "./due-writer.js";
import { type AheadLimits, RunPromoter } from "./run-promoter.js";
import { type ReadLimits, rowOfJob, rowOfRun, ShardReader } from "./shard-reader.js";

export type SchedulerContext = Pick<EngineContext, "emit" | "membership" | "now"> & {
  readonly loops: Pick<EngineContext["loops"], "register" | "wake">;
  readonly wakeups: Pick<EngineContext["wakeups"], "broadcast" | "on" | "runsPromoted" | "runsQueued">;
};

/** A test or the simulation may leave out what its jobs do not need. */
export interface SchedulerDeps {
  readonly store: FireStore;
  readonly calendars?: CalendarSource;
  /** Recomputes jobs that are due by an older version of a calendar, before they are planned. */
  readonly calendarSweep?: Pick<CalendarSweep, "follow">;
  /** Resumes jobs whose pause has expired. */
  readonly pauseExpiry?: Pick<PauseExpiry, "resume">;
  /** By priority by default. */
  readonly rank?: RankRun;
  readonly limits?: Partial<SchedulerLimits>;
  /** Whether every node of the cluster supports a feature; absent: every one does. */
  readonly hasFeature?: ClusterLevel["has"];
}

export interface SchedulerLimits extends ReadLimits, Pick<AheadLimits, "maxAhead"> {
  /** How long before their time delayed runs may be queued. */
  readonly aheadMs: DurationMs;
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
  readonly #context: SchedulerContext;
  readonly #deps: SchedulerDeps;
  readonly #limits: SchedulerLimits;
  readonly #calendars: CalendarSource;
  readonly #window: DueWindow;
  readonly #reader: ShardReader;
  readonly #maintenance: WindowCache;
  readonly #planner: DuePlanner;
  readonly #writer: DueWriter;
  readonly #promoter: RunPromoter;
  /** The revision of the windows by which the held occurrences of each shard were last released. */
  readonly #released = new Map<number, number>();

  constructor(context: SchedulerContext, deps: SchedulerDeps) {
    const { store, calendars = noCalendars } = deps;
    this.#context = context;
    this.#deps = deps;
    this.#calendars = calendars;
    this.#limits = { ...defaultLimits, ...deps.limits };
    const { inFlight: lanes, windowEntries, maxAhead } = this.#limits;
    const { hasFeature = () => true } = deps;
    const aheadMs = (): DurationMs => (hasFeature("queue_ahead") ? this.#limits.aheadMs : 0);
    // A new entry may be due before those that fill the window, so the window has room for as many again.
    this.#window = new DueWindow({ now: context.now(), lanes, capacity: windowEntries * 2, aheadMs });
    this.#reader = new ShardReader(context, { store, window: this.#window, limits: this.#limits });
    this.#promoter = new RunPromoter(context, {
      store,
      limits: { aheadMs, maxAhead },
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
      rank: deps.rank ?? rankByPriority,
    });
    this.#writer = new DueWriter(context, {
      store,
      admits: (job) => this.#reader.admits(rowOfJob(job)),
      onNext: (job) => this.jobDue(job),
      onRefused: (statement, jobs) => this.#refused(statement, jobs),
    });
    this.#subscribe(context);
  }

  #subscribe({ loops, wakeups }: SchedulerContext): void {
    loops.register("scheduler", async () => {
      await this.tick();
      return this.idleMs;
    });
    wakeups.on("jobs.due", (jobs) => {
      for (const job of jobs) this.jobDue(job);
      if (jobs.length > 0) loops.wake("scheduler");
    });
    wakeups.on("runs.due", (runs) => {
      for (const run of runs) this.runDue(run);
      if (runs.length > 0) loops.wake("scheduler");
    });
    wakeups.on("shards.changed", (shards) => {
      this.readShards(shards);
      if (shards.length > 0) loops.wake("scheduler");
    });
    wakeups.on("shards.owned", ({ gained, lost }) => {
      this.forgetShards(lost);
      this.readShards(gained.map((shard) => shard.id));
      if (gained.length > 0) loops.wake("scheduler");
    });
    wakeups.on("windows", () => {
      this.windowsChanged();
      loops.wake("scheduler");
    });
  }

  async tick(): Promise<TickReport> {
    const { emit, now } = this.#context;
    const began = now();
    if (this.#reader.isFullScanDue) this.#maintenance.markStale();
    await this.#maintenance.read();
    await this.#release();
    const report = await this.#readAndWork();
    emit({ type: "scheduler.ticked", durationMs: now() - began, ...report });
    return report;
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    const { nextDue } = this.#window;
    const { nextRead } = this.#reader;
    return Math.max(0, (nextDue === -1 ? nextRead : Math.min(nextDue, nextRead)) - this.#context.now());
  }

  /** This node created or changed a job: the job need not wait for the next scan. */
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

  /** Rows of these shards changed, or this node has just become their owner: the next tick reads them. */
  readShards(shards: readonly number[]): void {
    this.#reader.readNow(shards);
  }

  /** The maintenance windows changed: the next tick reads them. */
  windowsChanged(): void {
    this.#maintenance.markStale();
  }

  forgetShards(shards: readonly number[]): void {
    this.#window.dropShards(new Set(shards));
    this.#reader.forget(shards);
    for (const shard of shards) this.#released.delete(shard);
  }

  #owns(shard: number): boolean {
    return this.#context.membership().epochs.has(shard);
  }

  /** Releases occurrences that are held by windows of an older revision. */
  async #release(): Promise<void> {
    const { revision } = this.#maintenance;
    const { membership } = this.#context;
    const rows = membership().shards.flatMap((shard) => (this.#released.get(shard) === revision ? [] : [{ shard }]));
    if (rows.length === 0) return;
    this.#reader.readNow(await this.#deps.store.release({ fence: fenceOf(membership(), rows), windows: revision }));
    for (const { shard } of rows) this.#released.set(shard, revision);
  }

  /** While a herd is written, reads go on beside it. */
  async #readAndWork(): Promise<TickReport> {
    if (this.#window.readyAt(this.#context.now()) <= this.#limits.batch) {
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
        const due = this.#window.takeDue(this.#context.now(), batch, lane);
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
    const steps = this.#planner.plan(jobs, this.#context.now(), revision);
    const written = await this.#writer.write(steps);
    await this.#resume(steps.expired);
    if (steps.broken.length === 0) return written;
    // The calendar of a broken job may have been created a moment ago: the job is quarantined only if it is still broken after a refresh.
    await this.#calendars.refresh();
    const broken = steps.broken.map((one) => one.job);
    const again = this.#planner.plan(broken, this.#context.now(), revision);
    const late = await this.#writer.write(again);
    await this.#writer.quarantine(again.broken);
    return { fired: written.fired + late.fired, passed: written.passed + late.passed };
  }

  /** Returns the jobs whose next time was computed with the current calendars. The others are recomputed and read again. */
  async #upToDate(jobs: readonly DueJob[]): Promise<readonly DueJob[]> {
    const { calendarSweep } = this.#deps;
    const ids = jobs.flatMap((job) => (usesCalendars(job.definition.schedule) ? [job.jobId] : []));
    if (calendarSweep === undefined || ids.length === 0) return jobs;
    const behind = new Set(await calendarSweep.follow(ids));
    if (behind.size === 0) return jobs;
    this.#reader.readAgain(jobs.filter((job) => behind.has(job.jobId)));
    return jobs.filter((job) => !behind.has(job.jobId));
  }

  async #resume(jobs: readonly DueJob[]): Promise<void> {
    const { pauseExpiry } = this.#deps;
    if (jobs.length === 0 || pauseExpiry === undefined) return;
    const resumed = new Set(await pauseExpiry.resume(fenceOf(this.#context.membership(), jobs), jobs));
    this.#reader.readNow(jobs.filter((job) => resumed.has(job.jobId)).map((job) => job.shard));
    const rest = jobs.filter((job) => !resumed.has(job.jobId));
    if (rest.length > 0) this.#refused("job.resume", rest);
  }

  #refused(statement: string, rows: readonly { readonly shard: number }[]): void {
    this.#reader.readAgain(rows);
    this.#maintenance.markStale();
    this.#context.emit({ type: "write.fenced", statement, count: rows.length });
  }
}

function rowsOf({ jobs, runs }: DueNow): { readonly shard: number }[] {
  return [...jobs, ...runs];
}
