import { CarillonError, type FinalRunStatus, type Instant, type JobSpec } from "@carillon/core";
import type { NewRun } from "@carillon/store";
import { rankByPriority } from "../../catalog/rank-run.js";
import { membershipOf } from "../../cluster/shards.js";
import type { Membership } from "../../context.js";
import { planJob } from "../../jobs/plan-job.js";
import { OverlapAdmitter, type OverlapContext } from "../../jobs/transaction/overlap-admitter.js";
import type { FireStore } from "../../schedules/fire-store.js";
import { ScheduleCache } from "../../schedules/schedule-cache.js";
import { noCalendars } from "../../schedules/schedule-calendars.js";
import { Scheduler, type SchedulerContext } from "../scheduler.js";
import { memoryFireStore, memoryUnitOfWork } from "./memory-fire-store.js";
import { endRun } from "./memory-job-transaction.js";
import { insertJob, type MemoryRun, MemoryTables } from "./memory-tables.js";

export interface VirtualScheduleOptions {
  readonly now: () => Instant;
  readonly newId: () => string;
  /** Called with the running runs that their overlap policy stops. */
  readonly onStopped: (runIds: readonly string[]) => void;
}

/** A run that is ready for its handler. */
export type VirtualRun = Pick<
  MemoryRun,
  "id" | "jobId" | "task" | "queue" | "payload" | "policy" | "nominal" | "runAt" | "cancelReason"
>;

const shard = 0;
const dayMs = 86_400_000;

/** The production scheduler over rows in memory, on a clock that the caller moves. The testkit runs schedules with it. */
export class VirtualSchedule {
  readonly #options: VirtualScheduleOptions;
  readonly #tables: MemoryTables;
  readonly #scheduler: Scheduler;
  readonly #admitter: OverlapAdmitter;
  readonly #schedules = new ScheduleCache(1_000, false);
  readonly #keys = new Set<string>();

  constructor(options: VirtualScheduleOptions) {
    const { now, newId, onStopped } = options;
    this.#options = options;
    // A single node owns the only shard from the beginning.
    this.#tables = new MemoryTables({ now, owns: () => true });
    const context = contextOf(now, membershipOf(newId(), new Map([[shard, 1]])));
    this.#scheduler = new Scheduler(context, {
      store: reportStopped(memoryFireStore(this.#tables), onStopped),
      // Every tick is at the time of a run, so no run is queued ahead of it.
      limits: { windowMs: dayMs, aheadMs: 0 },
    });
    this.#scheduler.readShards([shard]);
    this.#admitter = new OverlapAdmitter(context, { unitOfWork: memoryUnitOfWork(this.#tables) });
  }

  /** Stores a job; returns its id. */
  add(spec: JobSpec): string {
    const { now, newId } = this.#options;
    if (spec.key !== undefined && this.#keys.has(spec.key)) {
      throw new CarillonError("key_taken", `A job with the key ${JSON.stringify(spec.key)} already exists.`);
    }
    const known = { schedules: this.#schedules, calendars: noCalendars, rank: rankByPriority };
    const place = { id: newId(), namespaceId: 1, lane: 1, shard };
    const planned = planJob(place, spec, { now: now(), catchupWindowMs: dayMs, ...known });
    if (planned.kind === "job") insertJob(this.#tables, planned.job);
    else this.#insertRun(planned.run);
    if (spec.key !== undefined) this.#keys.add(spec.key);
    this.#scheduler.readShards([shard]);
    return place.id;
  }

  /** The time of the next fire or delayed run; Infinity if there is none. */
  get nextAt(): Instant {
    let next = this.#tables.nextFireAt(shard);
    for (const run of this.#tables.delayedOf(shard)) next = Math.min(next, run.runAt);
    return next;
  }

  /** Fires due jobs and queues delayed runs whose time has come. */
  async tick(): Promise<void> {
    while (this.nextAt <= this.#options.now()) {
      const before = this.nextAt;
      await this.#scheduler.tick();
      if (this.nextAt === before) this.#scheduler.readShards([shard]);
    }
  }

  /** Takes every queued run; they run until they are ended or put back. */
  take(): VirtualRun[] {
    return this.#tables.queued().map((run) => {
      this.#tables.runs.set(run.id, { ...run, state: "running", sessionId: run.id });
      return run;
    });
  }

  /** Makes a running run wait for its next attempt at `runAt`. */
  putBack(id: string, runAt: Instant): void {
    const run = this.#tables.runs.get(id);
    if (run === undefined) return;
    this.#tables.runs.set(id, { ...run, state: "retrying", sessionId: null, runAt });
    this.#scheduler.readShards([shard]);
  }

  async end(id: string, status: FinalRunStatus, reason: string | null): Promise<void> {
    const run = this.#tables.runs.get(id);
    if (run === undefined) return;
    endRun(this.#tables, run, status, reason);
    // The testkit keeps its own list of ended runs: the row would only use memory.
    this.#tables.history.set(id, undefined);
    if (!run.serial || run.jobId === null) return;
    this.#admitter.hint([run.jobId]);
    await this.#admitter.tick();
  }

  /** Occurrences that did not become runs, with the reason. */
  get passed(): readonly { readonly jobId: string; readonly reason: string; readonly count: number }[] {
    return Array.from(this.#tables.ledger.values(), ({ jobId, reason, count }) => ({ jobId, reason, count }));
  }

  #insertRun({ runAt, deadline: _deadline, ...run }: NewRun): void {
    const at = { runAt, createdAt: this.#options.now() };
    const rest = { version: null, serial: false, untracked: false, cancelReason: null, sessionId: null };
    this.#tables.runs.set(run.id, { ...run, ...at, ...rest, state: "scheduled", stateReason: null });
  }
}

/** Loops and wakeups do nothing: the caller ticks both components. */
function contextOf(now: () => Instant, membership: Membership): SchedulerContext & OverlapContext {
  return {
    db: { query: () => Promise.reject(new Error("There is no SQL in memory.")) },
    clock: { monotonic: now },
    now,
    membership: () => membership,
    ownShards: () => membership.shards,
    emit: () => undefined,
    loops: { register: () => undefined, wake: () => undefined },
    wakeups: {
      broadcast: () => undefined,
      on: () => undefined,
      runsPromoted: () => undefined,
      runsQueued: () => undefined,
    },
  };
}

function reportStopped(store: FireStore, onStopped: (runIds: readonly string[]) => void): FireStore {
  return {
    ...store,
    async settle(terms, rows) {
      const outcome = await store.settle(terms, rows);
      onStopped(outcome.stopped);
      return outcome;
    },
  };
}
