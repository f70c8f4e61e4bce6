import { type DurationMs, type Instant, type JobPause, type PriorityClass, priorityClasses } from "@carillon/core";
import {
  type DueJob,
  type Fired,
  type FireRow,
  isFaultOfRows,
  type LedgerRange,
  type PassRow,
  type Queued,
  type Terms,
} from "@carillon/store";
import { fenceOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import type { EngineEvent, OnEngineEvent } from "../events.js";
import { announceEnded } from "../runs/run-events.js";
import type { FireStore } from "../schedules/fire-store.js";
import type { BrokenJob, DueSteps } from "./due-planner.js";

export type DueWriterContext = Pick<EngineContext, "emit" | "membership" | "now"> & {
  readonly wakeups: Pick<EngineContext["wakeups"], "broadcast" | "runsQueued">;
};

export interface DueWriterDeps {
  readonly store: Pick<FireStore, "fire" | "settle" | "pass" | "hold" | "quarantine">;
  /** Whether a job of this class and time belongs into the window. */
  readonly admits: (job: Pick<DueJob, "shard" | "class" | "fireAt">) => boolean;
  /** Called with a job whose new fire time belongs into the window. */
  readonly onNext: (job: DueJob) => void;
  /** Called with the jobs for which a statement changed nothing. */
  readonly onRefused: (statement: string, jobs: readonly DueJob[]) => void;
}

export interface Written {
  readonly fired: number;
  readonly passed: number;
}

/** Writes the decisions over due jobs, each set in one statement, and emits the events of their outcome. */
export class DueWriter {
  readonly #context: DueWriterContext;
  readonly #deps: DueWriterDeps;
  readonly #poison = new PoisonJobs();

  constructor(context: DueWriterContext, deps: DueWriterDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async write(steps: DueSteps): Promise<Written> {
    const { store } = this.#deps;
    const { emit, wakeups } = this.#context;
    const fired =
      (await this.#fire("due.fire", steps.fires, (rows) => store.fire(this.#terms(rows, steps), rows))) +
      (await this.#fire("due.settle", steps.settles, async (rows) => {
        const { fired: done, stopped, ended } = await store.settle(this.#terms(rows, steps), rows);
        if (stopped.length > 0) wakeups.broadcast("stops");
        announceEnded(ended, "cancelled", emit);
        return done;
      }));
    const passed = await this.#pass(steps);
    await this.#hold(steps);
    return { fired, passed };
  }

  async quarantine(broken: readonly BrokenJob[]): Promise<void> {
    if (broken.length === 0) return;
    const { emit, membership, now } = this.#context;
    const { store, onRefused } = this.#deps;
    const jobs = broken.map((one) => one.job);
    const rows = broken.map(({ job, error }) => ({ job, pause: quarantinePause(error, now()) }));
    const done = new Set(await store.quarantine(fenceOf(membership(), jobs), rows));
    for (const { job, error } of broken) {
      if (!done.has(job.jobId)) continue;
      const { namespaceId } = job.definition;
      emit({ type: "job.quarantined", namespaceId, jobId: job.jobId, reason: messageOf(error) });
    }
    refuse(jobs, done, (rest) => onRefused("due.quarantine", rest));
  }

  async #fire(
    statement: string,
    rows: readonly FireRow[],
    write: (rows: readonly FireRow[]) => Promise<readonly Fired[]>,
  ): Promise<number> {
    if (rows.length === 0) return 0;
    const { emit, wakeups } = this.#context;
    const { done, faults } = await this.#writeAround(rows, write);
    const byJob = new Map(done.map((one) => [one.jobId, one]));
    const rest: DueJob[] = [];
    const queued: Queued[] = [];
    for (const row of rows) {
      const fired = byJob.get(row.job.jobId);
      if (fired === undefined) {
        rest.push(row.job);
        continue;
      }
      announceFired(row, fired, emit);
      if (!fired.isLast) this.#moveOn(row, row.job.nominal, fired.runsMade);
      if (fired.outcome !== "fired" || fired.run === null) continue;
      const { id, lane, rank } = fired.run;
      queued.push({ id, lane, rank, namespaceId: row.job.definition.namespaceId });
    }
    wakeups.runsQueued(queued);
    await this.quarantine(faults.map(toBroken));
    const quarantined = new Set(faults.map(({ row }) => row.job.jobId));
    refuse(rest, quarantined, (refused) => this.#deps.onRefused(statement, refused));
    return done.length;
  }

  async #pass(steps: DueSteps): Promise<number> {
    const { passes: rows } = steps;
    if (rows.length === 0) return 0;
    const { store, onRefused } = this.#deps;
    const { done, faults } = await this.#writeAround(rows, (part) => store.pass(this.#terms(part, steps), part));
    const moved = new Set(done);
    for (const row of rows) {
      if (!moved.has(row.job.jobId)) continue;
      announcePassed(row, this.#context.emit);
      this.#moveOn(row, row.range.to, row.job.runsMade);
    }
    await this.quarantine(faults.map(toBroken));
    for (const { row } of faults) moved.add(row.job.jobId);
    refuse(
      rows.map((row) => row.job),
      moved,
      (rest) => onRefused("due.pass", rest),
    );
    return done.length;
  }

  async #hold(steps: DueSteps): Promise<void> {
    const { holds: rows } = steps;
    if (rows.length === 0) return;
    const { store, onNext, onRefused } = this.#deps;
    const held = new Set(await store.hold(this.#terms(rows, steps), rows));
    for (const { job, until } of rows) if (held.has(job.jobId)) onNext({ ...job, fireAt: until });
    refuse(
      rows.map((row) => row.job),
      held,
      (rest) => onRefused("due.hold", rest),
    );
  }

  /** If no row can be written, the fault may not be the job's: no job is quarantined until other rows were written. */
  async #writeAround<Row extends { readonly job: DueJob }, Out>(
    rows: readonly Row[],
    write: (rows: readonly Row[]) => Promise<readonly Out[]>,
  ): Promise<Pick<Bisected<Row, Out>, "done" | "faults">> {
    const { done, faults, written } = await writeAround(rows, write);
    this.#poison.countWritten(written);
    const [first] = faults;
    if (first === undefined || written > 0) return { done, faults };
    const now = this.#context.now();
    const poison = faults.filter(({ row }) => this.#poison.isPoison(row.job.jobId, now));
    if (poison.length === 0) throw first.error;
    return { done, faults: poison };
  }

  #moveOn({ job, next, catchUpTo }: FireRow | PassRow, settledTo: Instant, runsMade: number): void {
    const { shard, class: urgency } = job;
    if (next === null || !this.#deps.admits({ shard, class: urgency, fireAt: next.fireAt })) return;
    this.#deps.onNext({
      jobId: job.jobId,
      shard: job.shard,
      class: job.class,
      state: job.state,
      version: job.version,
      nominal: next.nominal,
      fireAt: next.fireAt,
      settledTo,
      catchUpTo: catchUpTo ?? job.catchUpTo,
      runsMade,
      definition: job.definition,
    });
  }

  #terms(rows: readonly { readonly job: DueJob }[], { windows, asOf }: DueSteps): Terms {
    const jobs = rows.map((row) => row.job);
    return { fence: fenceOf(this.#context.membership(), jobs), windows, asOf };
  }
}

function toBroken({ row, error }: Fault<{ readonly job: DueJob }>): BrokenJob {
  return { job: row.job, error };
}

function refuse(jobs: readonly DueJob[], done: ReadonlySet<string>, onRest: (rest: readonly DueJob[]) => void): void {
  const rest = jobs.filter((job) => !done.has(job.jobId));
  if (rest.length > 0) onRest(rest);
}

const maxReasonLength = 500;

function quarantinePause(error: unknown, at: Instant): JobPause {
  return { reason: `quarantined: ${messageOf(error)}`, actor: "system", at, until: null, missed: "none" };
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(0, maxReasonLength);
}

/** Emits the events of one row of a fire. */
function announceFired(row: FireRow, fired: Fired, onEvent: OnEngineEvent): void {
  const { job } = row;
  for (const range of row.notes) onEvent(skipped(job, range));
  if (fired.run === null) {
    const { outcome: reason } = fired;
    onEvent(skipped(job, { reason: reason === "duplicate" ? reason : "overlap", count: 1 }));
    return;
  }
  const lateMs = Math.max(0, fired.run.createdAt - job.fireAt);
  const { namespaceId, task, queue } = job.definition;
  // Every field is written out: a spread would cost more than everything else that the node does for a fire.
  const event = {
    type: fired.outcome === "blocked" ? "run.blocked" : "run.fired",
    namespaceId,
    runId: fired.run.id,
    jobId: job.jobId,
    task,
    queue,
    trigger: "schedule",
    priorityClass: classOf(job),
    scheduledFor: job.nominal,
    lateMs,
  } as const;
  onEvent(event);
  if (lateMs <= job.definition.firing.misfireThresholdMs) return;
  onEvent({ ...event, type: "run.late" });
}

/** Emits the events of skipped or missed occurrences. */
function announcePassed(row: PassRow, onEvent: OnEngineEvent): void {
  for (const range of row.notes) onEvent(skipped(row.job, range));
  onEvent(skipped(row.job, row.range));
}

function skipped({ jobId }: DueJob, { reason, count }: Pick<LedgerRange, "reason" | "count">): EngineEvent {
  return reason === "missed"
    ? { type: "occurrence.missed", jobId, count }
    : { type: "occurrence.skipped", jobId, reason, count };
}

function classOf(job: DueJob): PriorityClass {
  return priorityClasses[job.class] ?? "normal";
}

/** A row that makes its batch fail, and how. */
export interface Fault<Row> {
  readonly row: Row;
  readonly error: unknown;
}

export interface Bisected<Row, Out> {
  readonly done: readonly Out[];
  readonly faults: readonly Fault<Row>[];
  /** Rows that the statements accepted. */
  readonly written: number;
}

/** After this many faulty rows the rest of a batch waits for a later tick. */
const maxFaults = 16;

/**
 * Writes a batch; one that fails because of a row is halved until the row at fault stands alone, so that the others are
 * written. An error of the database itself is thrown.
 */
export async function writeAround<Row, Out>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<readonly Out[]>,
): Promise<Bisected<Row, Out>> {
  const done: Out[] = [];
  const faults: Fault<Row>[] = [];
  let written = 0;
  const attempt = async (part: readonly Row[]): Promise<void> => {
    if (faults.length >= maxFaults) return;
    try {
      done.push(...(await write(part)));
      written += part.length;
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      const [row] = part;
      if (part.length === 1 && row !== undefined) return void faults.push({ row, error });
      const half = Math.ceil(part.length / 2);
      await attempt(part.slice(0, half));
      await attempt(part.slice(half));
    }
  };
  await attempt(rows);
  return { done, faults, written };
}

interface FirstFailure {
  readonly since: Instant;
  /** The number of written rows when the job failed first. */
  readonly written: number;
}

const quarantineAfterMs: DurationMs = 60_000;
const maxTracked = 10_000;

/**
 * Jobs whose fire failed while no other row was written: the job may be at fault, or every write fails. The job is poison if other
 * rows were written since, or if it has failed for a minute.
 */
export class PoisonJobs {
  readonly #byJob = new Map<string, FirstFailure>();
  #written = 0;

  countWritten(rows: number): void {
    this.#written += rows;
    if (this.#byJob.size > maxTracked) this.#byJob.clear();
  }

  isPoison(jobId: string, now: Instant): boolean {
    const known = this.#byJob.get(jobId);
    if (known === undefined) {
      this.#byJob.set(jobId, { since: now, written: this.#written });
      return false;
    }
    const isPoison = this.#written > known.written || now - known.since >= quarantineAfterMs;
    if (isPoison) this.#byJob.delete(jobId);
    return isPoison;
  }
}
