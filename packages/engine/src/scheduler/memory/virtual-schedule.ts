import { CarillonError, type FinalRunStatus, type Instant, type JobSpec } from "@carillon/core";
import type { NewRun } from "@carillon/store";
import { rankByPriority } from "../../catalog/rank-run.js";
import { membershipOf } from "../../cluster/coordinator.js";
import { MemoryCluster } from "../../cluster/memory/memory-cluster.js";
import { planJob } from "../../jobs/plan-job.js";
import { OverlapAdmitter } from "../../jobs/transaction/overlap-admitter.js";
import { noCalendars } from "../../schedules/named-calendars.js";
import { ScheduleCache } from "../../schedules/schedule-cache.js";
import { Scheduler } from "../scheduler.js";
import { memoryFireStore, memoryUnitOfWork } from "./memory-fire-store.js";
import { endRun } from "./memory-job-transaction.js";
import { type MemoryRun, MemoryTables, insertJob } from "./memory-tables.js";

export interface VirtualScheduleOptions {
  readonly now: () => Instant;
  readonly newId: () => string;
  /** Running runs are to stop, by their overlap policy. */
  readonly onStopped: (runIds: readonly string[]) => void;
}

/** A run that somebody may work on. */
export type VirtualRun = Pick<
  MemoryRun,
  "id" | "jobId" | "task" | "queue" | "payload" | "policy" | "nominal" | "runAt" | "cancelReason"
>;

const shard = 0;
const dayMs = 86_400_000;

/** The production scheduler over rows in memory, on a clock that its owner moves: for tests of what schedules do. */
export class VirtualSchedule {
  readonly #options: VirtualScheduleOptions;
  readonly #tables: MemoryTables;
  readonly #scheduler: Scheduler;
  readonly #admitter: OverlapAdmitter;
  readonly #schedules = new ScheduleCache(1_000, false);
  readonly #keys = new Set<string>();
  readonly #owned: Promise<void>;
  readonly #epochs = new Map<number, number>();

  constructor(options: VirtualScheduleOptions) {
    const { now, newId, onStopped } = options;
    this.#options = options;
    const rows = new MemoryCluster(1);
    const nodeId = newId();
    this.#tables = new MemoryTables({ now, owns: (node, owned) => rows.owns(node, owned) });
    this.#scheduler = new Scheduler({
      store: memoryFireStore(this.#tables),
      now,
      membership: () => membershipOf(nodeId, this.#epochs),
      onQueued: () => undefined,
      onStopped,
      onEvent: () => undefined,
      limits: { windowMs: dayMs },
    });
    this.#admitter = new OverlapAdmitter(
      {
        db: { query: () => Promise.reject(new Error("there is no SQL in memory")) },
        clock: { monotonic: now },
        ownShards: () => [shard],
        loops: { register: () => undefined, wake: () => undefined },
        wakeups: { on: () => undefined, runsQueued: () => undefined },
      },
      { unitOfWork: memoryUnitOfWork(this.#tables) },
    );
    this.#owned = this.#own(rows, nodeId);
  }

  /** Stores a job; answers its id. */
  add(spec: JobSpec): string {
    const { now, newId } = this.#options;
    if (spec.key !== undefined && this.#keys.has(spec.key)) {
      throw new CarillonError("key_taken", `there is a job with the key ${JSON.stringify(spec.key)}`);
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

  /** When something is due next; Infinity when nothing is. */
  get nextAt(): Instant {
    let next = this.#tables.nextFireAt(shard);
    for (const run of this.#tables.delayedOf(shard)) next = Math.min(next, run.runAt);
    return next;
  }

  /** Fires what is due, and queues what waited for its time. */
  async tick(): Promise<void> {
    await this.#owned;
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

  /** It is to be tried again then. */
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
    // Whoever moves the clock remembers what counts.
    this.#tables.history.set(id, undefined);
    if (!run.serial || run.jobId === null) return;
    this.#admitter.hint([run.jobId]);
    await this.#admitter.tick();
  }

  /** Occurrences that did not become runs, with the reason. */
  get passed(): readonly { readonly jobId: string; readonly reason: string; readonly count: number }[] {
    return Array.from(this.#tables.ledger.values(), ({ jobId, reason, count }) => ({ jobId, reason, count }));
  }

  async #own(rows: MemoryCluster, nodeId: string): Promise<void> {
    for (const { id, epoch } of await rows.shards.take(nodeId, await rows.shards.list())) this.#epochs.set(id, epoch);
    this.#scheduler.readShards([shard]);
  }

  #insertRun({ runAt, deadline: _deadline, ...run }: NewRun): void {
    const at = { runAt, createdAt: this.#options.now() };
    const rest = { version: null, serial: false, untracked: false, cancelReason: null, sessionId: null };
    this.#tables.runs.set(run.id, { ...run, ...at, ...rest, state: "scheduled", stateReason: null });
  }
}
