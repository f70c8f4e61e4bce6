import { type DurationMs, type Instant, systemSoon } from "@carillon/core";
import { type DedupeOutcome, storeInRounds } from "./dedupe/dedupe-rounds.js";
import type { DirectInsert } from "./direct-insert.js";
import {
  Coalescer,
  type CoalescerOptions,
  type DedupedRun,
  type DedupeStore,
  type JobStore,
  type NewJob,
  type NewRun,
  type Notice,
  type OnReplaced,
  type Queued,
  type RunStore,
  type Store,
  type StoredJob,
  type StoredRun,
} from "@carillon/store";
import type { NotifyMode } from "../wakeups/wakeups.js";

export interface InsertBounds {
  readonly maxBatch: number;
  readonly maxQueued: number;
  readonly queueTimeout?: NonNullable<CoalescerOptions<never, never>["queueTimeout"]>;
}

/** Everything that concurrent callers write together. */
export interface Inserts {
  readonly jobs: Coalescer<NewJob, StoredJob>;
  readonly runs: Coalescer<NewRun, StoredRun>;
  readonly runsNow: Coalescer<NewRun, Instant>;
  readonly deduped: Coalescer<DedupedRun, DedupeOutcome>;
  /** What waits to be written. */
  readonly waiting: number;
}

export function makeInserts(
  store: Pick<Store, "jobs" | "runs" | "dedupes">,
  {
    horizonMs,
    onReplaced,
    onQueued,
    noticeOf,
    direct,
    ...bounds
  }: InsertBounds & RunsNowEvents & { readonly horizonMs: DurationMs; readonly onReplaced: OnReplaced },
): Inserts {
  const jobs = insertJobs(store.jobs, bounds);
  const runs = insertRuns(store.runs, { ...bounds, horizonMs });
  const runsNow = insertRunsNow(store.runs, bounds, { onQueued, noticeOf, ...(direct && { direct }) });
  const deduped = insertDeduped(store.dedupes, { ...bounds, horizonMs, onReplaced });
  const all = [jobs, runs, runsNow, deduped];
  return {
    jobs,
    runs,
    runsNow,
    deduped,
    get waiting() {
      return all.reduce((sum, one) => sum + one.queued, 0);
    },
  };
}

/** While one batch is made durable, the next is on its way. */
const maxInFlight = 2;

/** Concurrent creations of jobs share a statement; null stands for a key that is taken. */
function insertJobs(jobs: JobStore, bounds: InsertBounds): Coalescer<NewJob, StoredJob> {
  return new Coalescer({
    ...bounds,
    maxInFlight,
    soon: systemSoon,
    write: async (batch) => {
      const stored = await jobs.insert(batch);
      return batch.map((job) => stored.get(job.id) ?? null);
    },
  });
}

/** Concurrent creations of runs share a statement; a one-off job due beyond the horizon waits in far_future_run. */
function insertRuns(
  runs: RunStore,
  { horizonMs, ...bounds }: InsertBounds & { readonly horizonMs: DurationMs },
): Coalescer<NewRun, StoredRun> {
  return new Coalescer({
    ...bounds,
    maxInFlight,
    soon: systemSoon,
    write: async (batch) => {
      const stored = new Map((await runs.insert(batch, horizonMs)).map((run) => [run.id, run]));
      return batch.map((run) => {
        const one = stored.get(run.id);
        if (one === undefined) throw new Error(`the run id ${run.id} exists already`);
        return one;
      });
    },
  });
}

export interface RunsNowEvents {
  readonly onQueued: (queued: readonly Queued[], mode: NotifyMode) => void;
  /** What the statement itself is to tell others; null: it is to tell nothing. */
  readonly noticeOf: (queued: readonly Queued[]) => Notice | null;
  /** Runs go to workers that offered to take them, if there are any. */
  readonly direct?: Pick<DirectInsert, "insert">;
}

/**
 * Runs that may start at once: they come in great numbers, so their statement does no more than it must. A batch that goes alone
 * brings its hint along, which saves a round trip; of several at a time, commits would wait for one another. Whoever hands runs out
 * is told of a batch at a time. The answer is when they were stored.
 */
export function insertRunsNow(
  runs: RunStore,
  bounds: InsertBounds,
  { onQueued, noticeOf, direct }: RunsNowEvents,
): Coalescer<NewRun, Instant> {
  return new Coalescer({
    ...bounds,
    maxInFlight,
    soon: systemSoon,
    write: async (batch, isAlone) => {
      const inserted = isAlone ? ((await direct?.insert(batch)) ?? null) : null;
      if (inserted?.isAssigned === false) onQueued(batch, "sent");
      if (inserted !== null) return batch.map(() => inserted.at);
      const notice = isAlone ? noticeOf(batch) : null;
      const at = await runs.insertNow(batch, notice);
      onQueued(batch, notice === null ? "batched" : "sent");
      return batch.map(() => at);
    },
  });
}

/** Runs with a dedupe key apart from the others: only they may have to wait for somebody's open transaction. */
function insertDeduped(
  dedupes: DedupeStore,
  {
    horizonMs,
    onReplaced,
    ...bounds
  }: InsertBounds & { readonly horizonMs: DurationMs; readonly onReplaced: OnReplaced },
): Coalescer<DedupedRun, DedupeOutcome> {
  return new Coalescer({
    ...bounds,
    maxInFlight,
    soon: systemSoon,
    write: (batch) => storeInRounds(batch, (runs) => dedupes.insert(runs, horizonMs, onReplaced)),
  });
}
