import { type Calendar, CarillonError, type CompiledSchedule, compileSchedule, type Instant } from "@carillon/core";
import type { DueRules } from "../schedules/due-rules.js";
import { noteRemoved, settleDue } from "../jobs/transaction/settle-due.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { Settled, SettlerStore } from "../jobs/transaction/settler.js";
import type { CalendarEdition, Queryable, SeenCalendar, StoredPause } from "@carillon/store";
import type { CalendarCompiler } from "./compile-edition.js";
import { recomputeNext } from "./recompute-next.js";

export interface CalendarSweepOptions {
  readonly db: Queryable;
  readonly store: Pick<SettlerStore, "settle" | "settler" | "changes" | "calendars" | "calendarLinks">;
  readonly rules: DueRules;
  readonly compiler: CalendarCompiler;
  readonly onRecomputed: (shards: readonly number[], settled: Settled) => void;
  /** Jobs of one transaction. */
  readonly batch?: number;
  /** Transactions of one tick. */
  readonly batchesPerTick?: number;
}

const jobsPerTransaction = 200;
/** Old versions are wanted for a moment after a change, by all jobs of the calendar. */
const mostEditions = 1_000;

/**
 * Follows up on changed calendars: each job that was computed with an older version settles what was due under it and gets
 * its next time anew. Whoever does it holds the job's row, so that it needs no fence; owners of shards share the work.
 */
export class CalendarSweep {
  readonly #options: CalendarSweepOptions;
  readonly #editions = new Map<string, Calendar>();

  constructor(options: CalendarSweepOptions) {
    this.#options = options;
  }

  /** Answers how many jobs were recomputed. */
  async tick(shards: readonly number[]): Promise<number> {
    const { batch = jobsPerTransaction, batchesPerTick = 20, store } = this.#options;
    let total = 0;
    for (let count = 0; shards.length > 0 && count < batchesPerTick; count += 1) {
      const behind = await store.calendarLinks.behind(shards, batch);
      const done = behind.length === 0 ? 0 : await this.#recompute(behind);
      total += done;
      if (behind.length < batch || done === 0) break;
    }
    return total;
  }

  /** The same for these jobs alone, before something else is done with them; answers those that were behind. */
  async follow(jobIds: readonly string[]): Promise<string[]> {
    const { batch = jobsPerTransaction, db, store } = this.#options;
    const behind = await store.calendarLinks.behindOf(db, jobIds);
    for (let from = 0; from < behind.length; from += batch) await this.#recompute(behind.slice(from, from + batch));
    return behind;
  }

  async #recompute(jobIds: readonly string[]): Promise<number> {
    const { store, onRecomputed } = this.#options;
    const { touched, settled } = await store.settle((tx) => this.#once(tx, jobIds));
    onRecomputed([...new Set(touched.map((draft) => draft.job.shard))], settled);
    return touched.length;
  }

  async #once(tx: Queryable, jobIds: readonly string[]): Promise<{ touched: JobDraft[]; settled: Settled }> {
    const { settler, changes, calendarLinks } = this.#options.store;
    const locked = await calendarLinks.lock(tx, jobIds);
    const drafts = await settler.open(tx, locked);
    const seen = await calendarLinks.ofJobs(tx, locked);
    await this.#read(tx, seen);
    await this.#freshen(drafts);
    for (const draft of drafts) {
      const own = seen.filter((one) => one.jobId === draft.job.id);
      // Somebody else may have done it between the look and the lock.
      const isBehind = own.some((one) => one.seenVersion < one.version);
      if (isBehind && draft.job.endedAt === null) this.#change(draft, own);
    }
    const settled = await settler.write(tx, drafts);
    const touched = drafts.filter((draft) => draft.due.version !== draft.job.due.version);
    await changes.touch(
      tx,
      touched.map(({ job, due: { version } }) => {
        const pause = job.pause === null ? null : pausedBy(job.pause, job.now);
        return { id: job.id, expectedVersion: job.due.version, version, pause, endedAt: null };
      }),
    );
    await calendarLinks.see(tx, seen);
    return { touched, settled };
  }

  #change(draft: JobDraft, seen: readonly SeenCalendar[]): void {
    const old = this.#compile(draft, seen, (one) => one.seenVersion);
    const rule = this.#compile(draft, seen, (one) => one.version);
    if (draft.isDue && old !== null) settleDue(draft, old, this.#options.rules);
    const wasActive = draft.due.state === "active";
    // A rule that this node cannot compile is left to the scheduler, which parks the job when it is due.
    if (rule !== null) recomputeNext(draft, old, rule);
    if (old !== null && wasActive) closeRule(draft, old);
    draft.set({ version: draft.due.version + 1, ledgerFrom: null, ledgerReason: null });
  }

  #compile(
    { job }: JobDraft,
    seen: readonly SeenCalendar[],
    versionOf: (one: SeenCalendar) => number,
  ): CompiledSchedule | null {
    const calendars = new Map<string, Calendar>();
    for (const one of seen) {
      const calendar = this.#editions.get(keyOf({ id: one.calendarId, version: versionOf(one) }));
      if (calendar !== undefined) calendars.set(one.name, calendar);
    }
    try {
      return compileSchedule(job.schedule, { jobId: job.id, calendars, checked: true });
    } catch (error) {
      if (error instanceof CarillonError) return null;
      throw error;
    }
  }

  /** Both versions of every calendar that is asked for, compiled. */
  async #read(tx: Queryable, seen: readonly SeenCalendar[]): Promise<void> {
    if (this.#editions.size > mostEditions) this.#editions.clear();
    const wanted = new Map<string, CalendarEdition>();
    for (const { calendarId: id, seenVersion, version } of seen) {
      for (const edition of [
        { id, version: seenVersion },
        { id, version },
      ]) {
        if (!this.#editions.has(keyOf(edition))) wanted.set(keyOf(edition), edition);
      }
    }
    for (const { id, version, definition } of await this.#options.store.calendars.versions(tx, [...wanted.values()])) {
      this.#editions.set(keyOf({ id, version }), await this.#options.compiler.compileStored(definition, version));
    }
  }

  /** What is due is settled under the maintenance windows of this moment. */
  async #freshen(drafts: readonly JobDraft[]): Promise<void> {
    const { rules } = this.#options;
    if (drafts.some((draft) => draft.isDue && draft.job.windows !== rules.revision)) await rules.refresh();
  }
}

/** What the old version took up to now is noted by it; the new one has what comes later. */
function closeRule(draft: JobDraft, old: CompiledSchedule): void {
  const { nominal } = draft.due;
  // What has come and still waits is noted with all before it when it is fired.
  if (nominal !== null && nominal <= draft.job.now) return;
  const through = noteRemoved(draft, old);
  if (through !== null) draft.set({ firedThrough: Math.max(draft.due.firedThrough ?? through, through) });
}

/** Nothing that the old version named has come before the first instant that the pause swallows: the new one may name some. */
function pausedBy(pause: StoredPause, now: Instant): StoredPause {
  return { ...pause, after: Math.min(pause.after, now) };
}

function keyOf({ id, version }: CalendarEdition): string {
  return `${id} ${version}`;
}
