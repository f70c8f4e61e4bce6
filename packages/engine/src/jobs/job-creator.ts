import { CarillonError, defaultFiringPolicy, type JobSpec, type QueueOrder } from "@carillon/core";
import { type DueJob, namesIn, type NewJob, type Outcome, type StoredJob, type StoredRun } from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import { ensureLanes, refuseUnusable } from "../catalog/lanes.js";
import { shardOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import type { CoalescedInserts } from "../enqueue/coalesced-inserts.js";
import type { InsertWithReceipt } from "../enqueue/idempotency/insert-with-receipt.js";
import { announceStored, type NewlyStoredRun, type Place } from "../enqueue/run-enqueuer.js";
import type { Receipt } from "../requests.js";
import { newRunView } from "../runs/run-reader.js";
import { ScheduleCache } from "../schedules/schedule-cache.js";
import type { NamedCalendars } from "../schedules/schedule-calendars.js";
import type { ChangeTransaction } from "./change/change-transaction.js";
import { type JobView, newJobView, oneOffJob } from "./job-reader.js";
import type { CreatedJob } from "./job-requests.js";
import { type PlanContext, planJob, type PlannedJob } from "./plan-job.js";

export type JobCreatorContext = Pick<
  EngineContext,
  "emit" | "limits" | "newId" | "now" | "shardCount" | "store" | "wakeups"
>;

export interface JobCreatorDeps {
  readonly catalog: Pick<Catalog, "queues" | "rank">;
  readonly calendars: NamedCalendars;
  /** Concurrent calls share one statement. */
  readonly inserts: Pick<CoalescedInserts, "jobs" | "runs">;
  readonly insertWithReceipt: InsertWithReceipt;
  readonly transaction: Pick<ChangeTransaction, "adoptOneOffs">;
}

/** A job that was stored. `view` is null where it cannot be built from the new rows alone. */
export interface NewlyCreatedJob {
  readonly id: string;
  readonly view: JobView | null;
}

/** Stores jobs and wakes the scheduler; durable when it returns. A one-off job without a key is stored as its run alone, one row. */
export class JobCreator {
  readonly #context: JobCreatorContext;
  readonly #deps: JobCreatorDeps;
  /** Checks schedules that it has not compiled before. */
  readonly #schedules: ScheduleCache;

  constructor(context: JobCreatorContext, deps: JobCreatorDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#schedules = new ScheduleCache(context.limits.compiledSchedules, false);
  }

  async create(namespaceId: number, spec: JobSpec, receipt?: Receipt): Promise<NewlyCreatedJob> {
    const [created] = await this.#createBatch(namespaceId, [spec], receipt);
    if (created === undefined) throw new Error("a job was to be created and has no outcome");
    if ("error" in created) throw created.error;
    return { id: idOf(created.row), view: viewOf(created) };
  }

  /** Returns the outcomes in the order of the specs. A spec that cannot be stored does not prevent the others. */
  async createMany(namespaceId: number, specs: readonly JobSpec[], receipt?: Receipt): Promise<CreatedJob[]> {
    // With a receipt all of them are stored in one transaction.
    if (receipt !== undefined) return (await this.#createBatch(namespaceId, specs, receipt)).map(toCreated);
    const { insertBatch } = this.#context.limits;
    const batches = Array.from({ length: Math.ceil(specs.length / insertBatch) }, (_, index) =>
      specs.slice(index * insertBatch, (index + 1) * insertBatch),
    );
    const created: CreatedJob[][] = [];
    // Two at a time: while one batch is written, the next is planned, and the writer's two connections are busy.
    const feed = async (first: number): Promise<void> => {
      for (let index = first; index < batches.length; index += 2)
        created[index] = (await this.#createBatch(namespaceId, batches[index] ?? [])).map(toCreated);
    };
    await Promise.all([feed(0), feed(1)]);
    return created.flat();
  }

  async #createBatch(namespaceId: number, specs: readonly JobSpec[], receipt?: Receipt): Promise<Created[]> {
    const created = await this.#plan(namespaceId, specs);
    const jobs = created.flatMap((one, at) => ("row" in one && one.row.kind === "job" ? [{ ...one.row, at }] : []));
    const runs = created.flatMap((one, at) => ("row" in one && one.row.kind === "run" ? [{ ...one.row, at }] : []));
    const writes =
      receipt === undefined ? this.#write(jobs, runs) : this.#writeWithReceipt(created, { jobs, runs, receipt });
    await Promise.all([this.#storeJobs(jobs, writes.jobs, created), this.#storeRuns(runs, writes.runs, created)]);
    return created;
  }

  async #plan(namespaceId: number, specs: readonly JobSpec[]): Promise<Created[]> {
    const { store, shardCount, newId, now } = this.#context;
    const { catalog, calendars, transaction } = this.#deps;
    const { queues, rank } = catalog;
    const laneIds = await ensureLanes({ lanes: store.lanes, queues }, namespaceId, specs);
    const schedules = specs.map((spec) => spec.schedule);
    await calendars.ensure(namespaceId, schedules);
    const upstreamIds = schedules.flatMap((schedule) => (schedule.kind === "after" ? namesIn(schedule).ids : []));
    if (upstreamIds.length > 0) await transaction.adoptOneOffs(namespaceId, upstreamIds);
    const orderOf = (queue: string): QueueOrder | null => queues.orderOf(namespaceId, queue);
    const { catchupWindowMs } = defaultFiringPolicy;
    const context = { now: now(), catchupWindowMs, schedules: this.#schedules, calendars, rank, orderOf };
    return specs.map((spec, index) => {
      const id = newId();
      return plan({ id, namespaceId, lane: laneIds[index] ?? 0, shard: shardOf(id, shardCount) }, spec, context);
    });
  }

  #write(jobs: readonly JobRow[], runs: readonly RunRow[]): Writes {
    const { inserts } = this.#deps;
    return {
      jobs: inserts.jobs.addAll(jobs.map((row) => row.job)),
      runs: inserts.runs.addAll(runs.map((row) => row.run)),
    };
  }

  /** One transaction with the receipt: all of them are stored, or none. */
  #writeWithReceipt(created: readonly Created[], { jobs, runs, receipt }: RowsWithReceipt): Writes {
    if (jobs.length + runs.length === 0) return { jobs: Promise.resolve([]), runs: Promise.resolve([]) };
    const batch = { jobs: jobs.map((row) => row.job), runs: runs.map((row) => row.run) };
    const written = this.#deps.insertWithReceipt(batch, receipt, ({ jobs: stored }) => {
      const ids = created.map((one) => ("row" in one ? idOf(one.row) : null));
      for (const [index, { at }] of jobs.entries()) if (typeof (stored[index] ?? "") === "string") ids[at] = null;
      return ids.every((id) => id === null) ? null : { jobs: ids };
    });
    return {
      jobs: written.then((answers) => answers.jobs.map(fulfilled)),
      runs: written.then((answers) => answers.runs.map(fulfilled)),
    };
  }

  async #storeJobs(rows: readonly JobRow[], writes: Writes["jobs"], created: Created[]): Promise<void> {
    const stored = await writes;
    const due: DueJob[] = [];
    for (const [index, row] of rows.entries()) {
      const outcome = stored[index];
      if (outcome?.status !== "fulfilled") created[row.at] = { error: outcome?.reason };
      else if (outcome.value === null) created[row.at] = { error: keyTaken(row.job) };
      else if (outcome.value instanceof CarillonError) created[row.at] = { error: outcome.value };
      else if (outcome.value === "calendar_gone") created[row.at] = { error: calendarGone() };
      else {
        created[row.at] = { row, stored: outcome.value };
        if (row.due !== null) due.push(row.due);
        else this.#announceRemoved(row.job);
      }
    }
    if (due.length > 0) this.#context.wakeups.jobsDue(due);
  }

  /** A job without an occurrence was stored with the instants that its calendars removed. */
  #announceRemoved({ id: jobId, removed = [] }: NewJob): void {
    for (const { count } of removed)
      this.#context.emit({ type: "occurrence.skipped", jobId, reason: "calendar", count });
  }

  async #storeRuns(rows: readonly RunRow[], writes: Writes["runs"], created: Created[]): Promise<void> {
    const stored = await writes;
    const made: NewlyStoredRun[] = [];
    for (const [index, row] of rows.entries()) {
      const outcome = stored[index];
      if (outcome?.status !== "fulfilled") created[row.at] = { error: outcome?.reason };
      else {
        created[row.at] = { row, stored: outcome.value };
        made.push({ run: row.run, stored: outcome.value });
      }
    }
    announceStored(this.#context.wakeups, made);
  }
}

interface OrderOf {
  readonly orderOf: (queue: string) => QueueOrder | null;
}

/** A planned job with the index of its spec. */
type JobRow = Extract<PlannedJob, { kind: "job" }> & { readonly at: number };
type RunRow = Extract<PlannedJob, { kind: "run" }> & { readonly at: number };

interface RowsWithReceipt {
  readonly jobs: readonly JobRow[];
  readonly runs: readonly RunRow[];
  readonly receipt: Receipt;
}

interface Writes {
  readonly jobs: Promise<readonly Outcome<StoredJob>[]>;
  readonly runs: Promise<readonly Outcome<StoredRun>[]>;
}

/** A spec on its way: refused, planned, or stored (`stored` is the time of a job, the state of a run). */
type Created = { readonly error: unknown } | { readonly row: PlannedJob; readonly stored?: number | StoredRun };

/** A CarillonError is the outcome of its spec; any other error is a bug and fails the call. */
function plan(place: Place, spec: JobSpec, context: PlanContext & OrderOf): Created {
  try {
    const hasRunPayload = spec.schedule.kind === "manual" || spec.schedule.kind === "after";
    refuseUnusable({ ...spec, hasRunPayload }, context.orderOf(spec.queue));
    return { row: planJob(place, spec, context) };
  } catch (error) {
    if (error instanceof CarillonError) return { error };
    throw error;
  }
}

function toCreated(created: Created): CreatedJob {
  return "error" in created ? created : { id: idOf(created.row) };
}

/** null for a job that waits for others: its neighbours are known only to the database. */
function viewOf({ row, stored }: Extract<Created, { row: unknown }>): JobView | null {
  if (row.kind === "run") return typeof stored === "object" ? oneOffJob(newRunView(row.run, stored)) : null;
  return typeof stored === "number" && row.job.schedule.kind !== "after" ? newJobView(row.job, stored) : null;
}

function fulfilled<Value>(value: Value): Outcome<Value> {
  return { status: "fulfilled", value };
}

function idOf(planned: PlannedJob): string {
  return planned.kind === "job" ? planned.job.id : planned.run.id;
}

function calendarGone(): CarillonError {
  return new CarillonError("calendar_unknown", "A calendar of this schedule has just been deleted.");
}

function keyTaken({ key }: NewJob): CarillonError {
  return new CarillonError("key_taken", `The key ${JSON.stringify(key)} belongs to another job of this namespace.`);
}
