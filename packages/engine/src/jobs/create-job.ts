import {
  type AtSchedule,
  CarillonError,
  compileSchedule,
  type DurationMs,
  type Instant,
  type JobSpec,
  rankOf,
} from "@carillon/core";
import type { Coalescer } from "../store/db/coalescer.js";
import type { DueJob } from "../store/entities/due.js";
import type { NewJob } from "../store/entities/jobs.js";
import type { LaneStore } from "../store/entities/lanes.js";
import type { DueRun, NewRun, Queued, StoredRun } from "../store/entities/runs.js";
import { priorityClass } from "./priority-class.js";
import { shardOf } from "./shard-of.js";

export interface JobCreatorOptions {
  readonly lanes: LaneStore;
  /** Concurrent calls share one statement; null: the key is taken. */
  readonly insertJob: Coalescer<NewJob, Instant | null>;
  readonly insertRun: Coalescer<NewRun, StoredRun>;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly shards: number;
  readonly catchupWindowMs: DurationMs;
  readonly onDueJob: (job: DueJob) => void;
  readonly onDueRun: (run: DueRun) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

/** Stores a job and tells the scheduler; durable when it returns. A one-off job without a key is its run, one row. */
export class JobCreator {
  readonly #options: JobCreatorOptions;

  constructor(options: JobCreatorOptions) {
    this.#options = options;
  }

  /** Answers the new job's id. */
  async create(namespaceId: number, spec: JobSpec): Promise<string> {
    const id = this.#options.newId();
    const [lane] = await this.#options.lanes.ensure([{ queue: spec.queue, task: spec.task }]);
    if (lane === undefined) throw new Error("a lane was asked for and none came");
    const place = { id, namespaceId, lane, shard: shardOf(id, this.#options.shards) };
    if (spec.schedule.kind === "at") this.#refuseLongPast(spec.schedule);
    if (spec.schedule.kind === "at" && spec.key === undefined) await this.#createRun(place, spec, spec.schedule);
    else await this.#createJob(place, spec);
    return id;
  }

  #refuseLongPast(schedule: AtSchedule): void {
    const lateMs = this.#options.now() - schedule.at;
    if (lateMs <= this.#options.catchupWindowMs) return;
    const at = new Date(schedule.at).toISOString();
    throw new CarillonError(
      "schedule_in_past",
      `${at} is longer ago than the catch-up window of ${this.#options.catchupWindowMs / 3_600_000} h; give an instant that is later, or none to run now`,
    );
  }

  async #createRun(place: Place, spec: JobSpec, schedule: AtSchedule): Promise<void> {
    const { id, namespaceId, lane, shard } = place;
    const { task, queue, priority, payload, policy, labels } = spec;
    const rank = rankOf({ dueMs: schedule.at, priority });
    const owner = spec.owner ?? null;
    const when = { runAt: schedule.at, nominal: schedule.at, trigger: "once" };
    const run = {
      id,
      jobId: id,
      namespaceId,
      shard,
      lane,
      priority,
      rank,
      ...when,
      task,
      queue,
      payload,
      policy,
      labels,
      owner,
    };
    const stored = await this.#options.insertRun.add(run);
    if (stored.state === "queued") this.#options.onQueued([{ id, lane, rank }]);
    else this.#options.onDueRun({ id, shard, runAt: schedule.at });
  }

  async #createJob(place: Place, spec: JobSpec): Promise<void> {
    const { id, shard } = place;
    const { schedule, priority } = spec;
    const compiled = compileSchedule(schedule, { jobId: id });
    const nominal = compiled.nextNominal(schedule.kind === "at" ? schedule.at - 1 : this.#options.now());
    const isTimed = schedule.kind !== "manual" && schedule.kind !== "after";
    const next = nominal === -1 ? null : { nominal, fireAt: nominal + compiled.jitterAt(nominal) };
    const created = await this.#options.insertJob.add({
      ...place,
      key: spec.key ?? null,
      task: spec.task,
      queue: spec.queue,
      priority,
      payload: spec.payload,
      schedule,
      policy: spec.policy,
      labels: spec.labels,
      owner: spec.owner ?? null,
      class: priorityClass(priority),
      state: next === null && isTimed ? "completed" : "active",
      nextNominal: next?.nominal ?? null,
      nextFireAt: next?.fireAt ?? null,
      maxRuns: "maxRuns" in schedule ? (schedule.maxRuns ?? null) : null,
    });
    if (created === null)
      throw new CarillonError(
        "key_taken",
        `the key ${JSON.stringify(spec.key)} belongs to another job of this namespace`,
      );
    if (next !== null)
      this.#options.onDueJob({
        jobId: id,
        shard,
        class: priorityClass(priority),
        version: 1,
        ...next,
        schedule,
        priority,
      });
  }
}

interface Place {
  readonly id: string;
  readonly namespaceId: number;
  readonly lane: number;
  readonly shard: number;
}
