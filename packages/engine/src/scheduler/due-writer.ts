import type { Instant, JobPause } from "@carillon/core";
import type { DueJob, FireRow, Fired, PassRow, Queued, Terms } from "@carillon/store";
import type { Membership } from "../context.js";
import type { OnEngineEvent } from "../events.js";
import { announceEnded } from "../runs/run-events.js";
import type { FireStore } from "../schedules/fire-store.js";
import { type Bisected, type Fault, writeAround } from "./bisect.js";
import type { BrokenJob, DueSteps } from "./due-planner.js";
import { fenceOf } from "./fence.js";
import { announceFired, announcePassed } from "./fire-events.js";
import { Suspects } from "./poison-jobs.js";

export interface DueWriterOptions {
  readonly store: Pick<FireStore, "fire" | "settle" | "pass" | "hold" | "park">;
  readonly now: () => Instant;
  readonly membership: () => Membership;
  /** Whether the window takes a job of this class that is due then. */
  readonly admits: (job: Pick<DueJob, "shard" | "class" | "fireAt">) => boolean;
  /** A job has another time from now on, one that the window takes. */
  readonly onNext: (job: DueJob) => void;
  /** Nothing was done for these, and only the store knows why. */
  readonly onRefused: (statement: string, jobs: readonly DueJob[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Running runs were asked to stop, because a new one replaces them. */
  readonly onStopped: (runIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
}

export interface Written {
  readonly fired: number;
  readonly passed: number;
}

/** Puts decisions over due jobs into effect, each set in one statement, and tells what came of it. */
export class DueWriter {
  readonly #options: DueWriterOptions;
  readonly #suspects = new Suspects();

  constructor(options: DueWriterOptions) {
    this.#options = options;
  }

  async write(steps: DueSteps): Promise<Written> {
    const { store } = this.#options;
    const fired =
      (await this.#fire("due.fire", steps.fires, (rows) => store.fire(this.#terms(rows, steps), rows))) +
      (await this.#fire("due.settle", steps.settles, async (rows) => {
        const { fired: done, stopped, ended } = await store.settle(this.#terms(rows, steps), rows);
        this.#options.onStopped(stopped);
        announceEnded(ended, "cancelled", this.#options.onEvent);
        return done;
      }));
    const passed = await this.#pass(steps);
    await this.#hold(steps);
    return { fired, passed };
  }

  async park(broken: readonly BrokenJob[]): Promise<void> {
    if (broken.length === 0) return;
    const { store, membership, now, onRefused, onEvent } = this.#options;
    const jobs = broken.map((one) => one.job);
    const rows = broken.map(({ job, error }) => ({ job, pause: parked(error, now()) }));
    const done = new Set(await store.park(fenceOf(membership(), jobs), rows));
    for (const { job, error } of broken) {
      if (done.has(job.jobId)) onEvent({ type: "job.parked", jobId: job.jobId, error });
    }
    refuse(jobs, done, (rest) => onRefused("due.park", rest));
  }

  async #fire(
    statement: string,
    rows: readonly FireRow[],
    write: (rows: readonly FireRow[]) => Promise<readonly Fired[]>,
  ): Promise<number> {
    if (rows.length === 0) return 0;
    const { onQueued, onEvent, onRefused } = this.#options;
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
      announceFired(row, fired, onEvent);
      if (!fired.isLast) this.#moveOn(row, row.job.nominal, fired.runsMade);
      if (fired.outcome !== "fired" || fired.run === null) continue;
      const { id, lane, rank } = fired.run;
      queued.push({ id, lane, rank, namespaceId: row.job.definition.namespaceId });
    }
    onQueued(queued);
    await this.park(faults.map(toBroken));
    const parkedIds = new Set(faults.map(({ row }) => row.job.jobId));
    refuse(rest, parkedIds, (refused) => onRefused(statement, refused));
    return done.length;
  }

  async #pass(steps: DueSteps): Promise<number> {
    const { passes: rows } = steps;
    if (rows.length === 0) return 0;
    const { store, onEvent, onRefused } = this.#options;
    const { done, faults } = await this.#writeAround(rows, (part) => store.pass(this.#terms(part, steps), part));
    const moved = new Set(done);
    for (const row of rows) {
      if (!moved.has(row.job.jobId)) continue;
      announcePassed(row, onEvent);
      this.#moveOn(row, row.range.to, row.job.runsMade);
    }
    await this.park(faults.map(toBroken));
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
    const { store, onNext, onRefused } = this.#options;
    const held = new Set(await store.hold(this.#terms(rows, steps), rows));
    for (const { job, until } of rows) if (held.has(job.jobId)) onNext({ ...job, fireAt: until });
    refuse(
      rows.map((row) => row.job),
      held,
      (rest) => onRefused("due.hold", rest),
    );
  }

  /** Where no row can be written the fault may be anywhere: nobody is parked for it until others were written. */
  async #writeAround<Row extends { readonly job: DueJob }, Out>(
    rows: readonly Row[],
    write: (rows: readonly Row[]) => Promise<readonly Out[]>,
  ): Promise<Pick<Bisected<Row, Out>, "done" | "faults">> {
    const { done, faults, written } = await writeAround(rows, write);
    this.#suspects.noteWritten(written);
    const [first] = faults;
    if (first === undefined || written > 0) return { done, faults };
    const now = this.#options.now();
    const guilty = faults.filter(({ row }) => this.#suspects.isGuilty(row.job.jobId, now));
    if (guilty.length === 0) throw first.error;
    return { done, faults: guilty };
  }

  #moveOn({ job, next, catchUpTo }: FireRow | PassRow, settledTo: Instant, runsMade: number): void {
    const { shard, class: urgency } = job;
    if (next === null || !this.#options.admits({ shard, class: urgency, fireAt: next.fireAt })) return;
    this.#options.onNext({
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
    return { fence: fenceOf(this.#options.membership(), jobs), windows, asOf };
  }
}

function toBroken({ row, error }: Fault<{ readonly job: DueJob }>): BrokenJob {
  return { job: row.job, error };
}

function refuse(jobs: readonly DueJob[], done: ReadonlySet<string>, tell: (rest: readonly DueJob[]) => void): void {
  const rest = jobs.filter((job) => !done.has(job.jobId));
  if (rest.length > 0) tell(rest);
}

const longestReason = 500;

function parked(error: unknown, at: Instant): JobPause {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: `parked: ${message.slice(0, longestReason)}`, actor: "system", at, until: null, missed: "none" };
}
