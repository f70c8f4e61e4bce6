import {
  type Calendar,
  CarillonError,
  type CompiledSchedule,
  compileSchedule,
  type DurationMs,
  type Instant,
} from "@carillon/core";
import type { CalendarEdition, Queryable, SeenCalendar, StoredPause } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import { announceApplied, type Applied, type JobUnitOfWork } from "../jobs/transaction/job-unit-of-work.js";
import { closeRule, noteEmptyRule, processDue, supersedePending } from "../jobs/transaction/process-due.js";
import type { DueRules } from "../schedules/due-rules.js";
import { nextAfter } from "../schedules/plan-due.js";
import type { CalendarCache, CalendarCompiler } from "./calendar-cache.js";

export type CalendarSweepContext = Pick<EngineContext, "db" | "emit" | "loops" | "ownShards" | "store" | "wakeups">;

export interface CalendarSweepDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly rules: DueRules;
  readonly cache: Pick<CalendarCache, "refresh">;
  readonly compiler: CalendarCompiler;
}

/** Jobs of one transaction. */
const batch = 200;
/** Transactions of one tick. */
const batchesPerTick = 20;
const sweepEveryMs: DurationMs = 5_000;
/** All jobs of a calendar need its old version for a short time after a change. */
const maxEditions = 1_000;

/**
 * Recomputes jobs after a change of a calendar: for each job that was computed with an older version it decides the occurrences that are due
 * under that version and computes the next time with the new one. The transaction holds the job's row, so it needs no fence; every node sweeps
 * the shards that it owns.
 */
export class CalendarSweep {
  readonly #context: CalendarSweepContext;
  readonly #deps: CalendarSweepDeps;
  readonly #editions = new Map<string, Calendar>();

  constructor(context: CalendarSweepContext, deps: CalendarSweepDeps) {
    this.#context = context;
    this.#deps = deps;
    const { loops, wakeups, ownShards } = context;
    loops.register("calendars", async () => {
      await deps.cache.refresh();
      return (await this.tick(ownShards())) > 0 ? 0 : sweepEveryMs;
    });
    wakeups.on("calendars", () => loops.wake("calendars"));
  }

  /** Returns how many jobs were recomputed. */
  async tick(shards: readonly number[]): Promise<number> {
    const { store } = this.#context;
    let total = 0;
    for (let count = 0; shards.length > 0 && count < batchesPerTick; count += 1) {
      const behind = await store.calendarLinks.behind(shards, batch);
      const done = behind.length === 0 ? 0 : await this.#recompute(behind);
      total += done;
      if (behind.length < batch || done === 0) break;
    }
    return total;
  }

  /** The same for these jobs alone, before another change of them; returns those that were behind. */
  async follow(jobIds: readonly string[]): Promise<string[]> {
    const { db, store } = this.#context;
    const behind = await store.calendarLinks.behindOf(db, jobIds);
    for (let from = 0; from < behind.length; from += batch) await this.#recompute(behind.slice(from, from + batch));
    return behind;
  }

  async #recompute(jobIds: readonly string[]): Promise<number> {
    const { touched, applied } = await this.#deps.unitOfWork.transaction((tx) => this.#once(tx, jobIds));
    announceApplied(this.#context, [...new Set(touched.map((draft) => draft.job.shard))], applied);
    return touched.length;
  }

  async #once(tx: Queryable, jobIds: readonly string[]): Promise<{ touched: JobDraft[]; applied: Applied }> {
    const { unitOfWork } = this.#deps;
    const { changes, calendarLinks } = this.#context.store;
    const locked = await calendarLinks.lock(tx, jobIds);
    const drafts = await unitOfWork.open(tx, locked);
    const seen = await calendarLinks.ofJobs(tx, locked);
    await this.#read(tx, seen);
    await this.#refreshRules(drafts);
    await unitOfWork.readAhead(tx, drafts);
    for (const draft of drafts) {
      const own = seen.filter((one) => one.jobId === draft.job.id);
      // Another transaction may have recomputed it between the read and the lock.
      const isBehind = own.some((one) => one.seenVersion < one.version);
      if (isBehind && draft.job.endedAt === null) this.#change(draft, own);
    }
    const applied = await unitOfWork.write(tx, drafts);
    const touched = drafts.filter((draft) => draft.due.version !== draft.job.due.version);
    await changes.touch(
      tx,
      touched.map(({ job, due: { version } }) => {
        const pause = job.pause === null ? null : pausedBy(job.pause, job.now);
        return { id: job.id, expectedVersion: job.due.version, version, pause, endedAt: null };
      }),
    );
    await calendarLinks.see(tx, seen);
    return { touched, applied };
  }

  #change(draft: JobDraft, seen: readonly SeenCalendar[]): void {
    const old = this.#compile(draft, seen, (one) => one.seenVersion);
    const rule = this.#compile(draft, seen, (one) => one.version);
    if (draft.isDue && old !== null) processDue(draft, old, this.#deps.rules);
    if (draft.due.state !== "paused") replaceRule(draft, old, rule);
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

  /** Compiles both versions of every calendar that the jobs use. */
  async #read(tx: Queryable, seen: readonly SeenCalendar[]): Promise<void> {
    if (this.#editions.size > maxEditions) this.#editions.clear();
    const missing = new Map<string, CalendarEdition>();
    for (const { calendarId: id, seenVersion, version } of seen) {
      for (const edition of [
        { id, version: seenVersion },
        { id, version },
      ]) {
        if (!this.#editions.has(keyOf(edition))) missing.set(keyOf(edition), edition);
      }
    }
    for (const { id, version, definition } of await this.#context.store.calendars.versions(tx, [...missing.values()])) {
      this.#editions.set(keyOf({ id, version }), this.#deps.compiler.compileStored(definition, version));
    }
  }

  /** Due occurrences are decided under the maintenance windows of this moment. */
  async #refreshRules(drafts: readonly JobDraft[]): Promise<void> {
    const { rules } = this.#deps;
    if (drafts.some((draft) => draft.isDue && draft.job.windows !== rules.revision)) await rules.refresh();
  }
}

/** The pause begins no later than now: the new version may have instants before the first one of the old version. */
function pausedBy(pause: StoredPause, now: Instant): StoredPause {
  return { ...pause, after: Math.min(pause.after, now) };
}

function keyOf({ id, version }: CalendarEdition): string {
  return `${id} ${version}`;
}

/**
 * Replaces the rule of a job whose due occurrences are decided: the instants that the old version removed up to now go to the ledger, the new
 * version decides about later ones. A due occurrence that still waits (held, paced, within its jitter) stays if it is an instant of the new
 * rule too, and adds the removed instants when it is fired. `rule` is null if it cannot be compiled: the scheduler quarantines the job once it
 * is due.
 */
function replaceRule(draft: JobDraft, old: CompiledSchedule | null, rule: CompiledSchedule | null): void {
  const { nominal } = draft.due;
  const { now } = draft.job;
  if (nominal !== null && nominal <= now) {
    if (rule === null || rule.nextNominal(nominal - 1) === nominal) return;
    supersedePending(draft, old);
  }
  const through = old === null ? null : closeRule(draft, old);
  if (through !== null) draft.set({ firedThrough: Math.max(draft.due.firedThrough ?? through, through) });
  if (rule !== null) startRule(draft, rule);
}

/** Computes the next time of a job with its new calendars. */
function startRule(draft: JobDraft, rule: CompiledSchedule): void {
  const { firedThrough, firedCount, maxRuns } = draft.due;
  const isSpent = maxRuns !== null && firedCount >= maxRuns;
  const next = isSpent ? null : nextAfter(rule, Math.max(firedThrough ?? -1, draft.job.now));
  draft.set({
    state: next === null ? "completed" : "active",
    nominal: next?.nominal ?? null,
    fireAt: next?.fireAt ?? null,
    catchUpTo: null,
    stateReason: null,
  });
  if (next === null && !isSpent) noteEmptyRule(draft, draft.job.schedule, rule);
}
