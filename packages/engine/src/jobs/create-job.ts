import {
  CarillonError,
  type DurationMs,
  type Instant,
  type JobSpec,
  type QueueOrder,
  type ScheduleSpec,
} from "@carillon/core";
import type { CreatedJob } from "./engine-api.js";
import type { InsertWithReceipt } from "../enqueue/idempotency/insert-with-receipt.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun } from "../catalog/rank-run.js";
import { type NamedCalendars, noCalendars } from "../schedules/named-calendars.js";
import type { ScheduleCache } from "../schedules/schedule-cache.js";
import type {
  Coalescer,
  DueJob,
  DueRun,
  LaneStore,
  NewJob,
  NewRun,
  Outcome,
  Queued,
  StoredJob,
  StoredRun,
} from "@carillon/store";
import { laneNameOf, refuseUnusable } from "../catalog/lane-name.js";
import { type Place, type PlanContext, type PlannedJob, planJob } from "./plan-job.js";
import { shardOf } from "../catalog/shard-of.js";
import type { Receipt } from "../requests.js";

export interface JobCreatorOptions {
  readonly lanes: LaneStore;
  readonly queues: Pick<QueueCache, "ensure" | "orderOf">;
  readonly rank: RankRun;
  /** Concurrent calls share one statement; null: the key is taken. */
  readonly insertJob: Coalescer<NewJob, StoredJob>;
  readonly insertRun: Coalescer<NewRun, StoredRun>;
  /** For calls with a receipt. */
  readonly insertKept: InsertWithReceipt;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  /** Checks what it has not compiled before. */
  readonly schedules: ScheduleCache;
  readonly calendars?: NamedCalendars;
  /** One-off jobs that others are to wait for become stored jobs. */
  readonly adoptUpstreams?: (namespaceId: number, schedules: readonly ScheduleSpec[]) => Promise<void>;
  readonly shards: number;
  readonly catchupWindowMs: DurationMs;
  /** Specs of one batch that are planned and stored at a time. */
  readonly chunk: number;
  readonly onDueJobs: (jobs: readonly DueJob[]) => void;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

/** Stores jobs and tells the scheduler; durable when it returns. A one-off job without a key is its run, one row. */
export class JobCreator {
  readonly #options: JobCreatorOptions;

  constructor(options: JobCreatorOptions) {
    this.#options = options;
  }

  /** Answers the new job's id. */
  async create(namespaceId: number, spec: JobSpec, receipt?: Receipt): Promise<string> {
    const [created] = await this.#createChunk(namespaceId, [spec], receipt);
    if (created === undefined) throw new Error("a job was to be created and no answer came");
    if ("error" in created) throw created.error;
    return created.id;
  }

  /** Answers in the order of the specs. One that cannot be stored does not keep the others from it. */
  async createMany(namespaceId: number, specs: readonly JobSpec[], receipt?: Receipt): Promise<CreatedJob[]> {
    // With a receipt all go into one transaction.
    if (receipt !== undefined) return this.#createChunk(namespaceId, specs, receipt);
    const { chunk } = this.#options;
    const chunks = Array.from({ length: Math.ceil(specs.length / chunk) }, (_, index) =>
      specs.slice(index * chunk, (index + 1) * chunk),
    );
    const created: CreatedJob[][] = [];
    // Two at a time: while one is written, the next is planned, and the writer's two connections have work.
    const feed = async (first: number): Promise<void> => {
      for (let index = first; index < chunks.length; index += 2)
        created[index] = await this.#createChunk(namespaceId, chunks[index] ?? []);
    };
    await Promise.all([feed(0), feed(1)]);
    return created.flat();
  }

  async #createChunk(namespaceId: number, specs: readonly JobSpec[], receipt?: Receipt): Promise<CreatedJob[]> {
    const {
      catchupWindowMs,
      schedules,
      calendars = noCalendars,
      shards,
      newId,
      now,
      lanes,
      queues,
      rank,
    } = this.#options;
    await queues.ensure(
      namespaceId,
      specs.map((spec) => spec.queue),
    );
    const laneIds = await lanes.ensure(specs.map((spec) => laneNameOf(spec, queues.orderOf(namespaceId, spec.queue))));
    await calendars.ensure(
      namespaceId,
      specs.map((spec) => spec.schedule),
    );
    await this.#options.adoptUpstreams?.(
      namespaceId,
      specs.map((spec) => spec.schedule),
    );
    const orderOf = (queue: string): QueueOrder | null => queues.orderOf(namespaceId, queue);
    const context: PlanContext & OrderOf = { now: now(), catchupWindowMs, schedules, calendars, rank, orderOf };
    const planned = specs.map((spec, index) => {
      const id = newId();
      return plan({ id, namespaceId, lane: laneIds[index] ?? 0, shard: shardOf(id, shards) }, spec, context);
    });
    const created: CreatedJob[] = planned.map((one) =>
      one.kind === "refused" ? { error: one.error } : { id: idOf(one) },
    );
    const jobs = planned.flatMap((one, at) => (one.kind === "job" ? [{ ...one, at }] : []));
    const runs = planned.flatMap((one, at) => (one.kind === "run" ? [{ ...one, at }] : []));
    const writes = receipt === undefined ? this.#write(jobs, runs) : this.#writeKept(created, { jobs, runs, receipt });
    await Promise.all([this.#storeJobs(jobs, writes.jobs, created), this.#storeRuns(runs, writes.runs, created)]);
    return created;
  }

  #write(jobs: readonly JobRow[], runs: readonly RunRow[]): Writes {
    const { insertJob, insertRun } = this.#options;
    return {
      jobs: insertJob.addAll(jobs.map((row) => row.job)),
      runs: insertRun.addAll(runs.map((row) => row.run)),
    };
  }

  /** All in one transaction with the receipt: they are stored together or not at all. */
  #writeKept(created: readonly CreatedJob[], { jobs, runs, receipt }: KeptRows): Writes {
    if (jobs.length + runs.length === 0) return { jobs: Promise.resolve([]), runs: Promise.resolve([]) };
    const batch = { jobs: jobs.map((row) => row.job), runs: runs.map((row) => row.run) };
    const kept = this.#options.insertKept(batch, receipt, ({ jobs: stored }) => {
      const ids = created.map((one) => ("id" in one ? one.id : null));
      for (const [index, { at }] of jobs.entries()) if (typeof (stored[index] ?? "") === "string") ids[at] = null;
      return ids.every((id) => id === null) ? null : { jobs: ids };
    });
    return {
      jobs: kept.then((answers) => answers.jobs.map(fulfilled)),
      runs: kept.then((answers) => answers.runs.map(fulfilled)),
    };
  }

  async #storeJobs(rows: readonly JobRow[], writes: Writes["jobs"], created: CreatedJob[]): Promise<void> {
    const stored = await writes;
    const due: DueJob[] = [];
    for (const [index, row] of rows.entries()) {
      const one = stored[index];
      if (one?.status !== "fulfilled") created[row.at] = { error: one?.reason };
      else if (one.value === null) created[row.at] = { error: keyTaken(row.job) };
      else if (one.value instanceof CarillonError) created[row.at] = { error: one.value };
      else if (one.value === "calendar_gone") created[row.at] = { error: calendarGone() };
      else if (row.due !== null) due.push(row.due);
    }
    if (due.length > 0) this.#options.onDueJobs(due);
  }

  async #storeRuns(rows: readonly RunRow[], writes: Writes["runs"], created: CreatedJob[]): Promise<void> {
    const stored = await writes;
    const due: DueRun[] = [];
    const queued: Queued[] = [];
    for (const [index, { run, at }] of rows.entries()) {
      const one = stored[index];
      if (one?.status !== "fulfilled") created[at] = { error: one?.reason };
      else if (one.value.state === "queued") queued.push(run);
      else if (one.value.state === "scheduled") due.push({ id: run.id, shard: run.shard, runAt: run.runAt });
    }
    if (queued.length > 0) this.#options.onQueued(queued);
    if (due.length > 0) this.#options.onDueRuns(due);
  }
}

interface OrderOf {
  readonly orderOf: (queue: string) => QueueOrder | null;
}

/** A planned job with its place among the specs. */
type JobRow = Extract<PlannedJob, { kind: "job" }> & { readonly at: number };
type RunRow = Extract<PlannedJob, { kind: "run" }> & { readonly at: number };

interface KeptRows {
  readonly jobs: readonly JobRow[];
  readonly runs: readonly RunRow[];
  readonly receipt: Receipt;
}

interface Writes {
  readonly jobs: Promise<readonly Outcome<StoredJob>[]>;
  readonly runs: Promise<readonly Outcome<StoredRun>[]>;
}

type Plan = PlannedJob | { readonly kind: "refused"; readonly error: CarillonError };

/** What is wrong with one spec is that spec's answer; anything else is a fault of ours and stops the call. */
function plan(place: Place, spec: JobSpec, context: PlanContext & OrderOf): Plan {
  try {
    const isAsked = spec.schedule.kind === "manual" || spec.schedule.kind === "after";
    refuseUnusable({ ...spec, isAsked }, context.orderOf(spec.queue));
    return planJob(place, spec, context);
  } catch (error) {
    if (error instanceof CarillonError) return { kind: "refused", error };
    throw error;
  }
}

function fulfilled<Value>(value: Value): Outcome<Value> {
  return { status: "fulfilled", value };
}

function idOf(planned: PlannedJob): string {
  return planned.kind === "job" ? planned.job.id : planned.run.id;
}

function calendarGone(): CarillonError {
  return new CarillonError("calendar_unknown", "a calendar of this schedule has just been deleted");
}

function keyTaken({ key }: NewJob): CarillonError {
  return new CarillonError("key_taken", `the key ${JSON.stringify(key)} belongs to another job of this namespace`);
}
