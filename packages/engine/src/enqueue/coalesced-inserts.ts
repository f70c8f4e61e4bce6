import { type DurationMs, type Instant, systemSoon } from "@carillon/core";
import { type DedupeOutcome, storeInRounds } from "./dedupe/dedupe-rounds.js";
import { announceEnded } from "../runs/run-events.js";
import { farFutureHorizonMs } from "../options.js";
import type { EngineContext } from "../context.js";
import { DirectInsert, type OfferChannel, type SlotOffers } from "./direct-insert.js";
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

export interface CoalescedInsertsDeps {
  /** The slots that gateways offered for new runs. */
  readonly offers: SlotOffers;
  readonly channel: OfferChannel;
}

type CoalescedInsertsContext = Pick<EngineContext, "clock" | "emit" | "limits"> & {
  readonly store: Pick<Store, "jobs" | "runs" | "dedupes" | "directRuns">;
  readonly wakeups: Pick<EngineContext["wakeups"], "runsQueued" | "noticeFor">;
};

/** Writes the rows of concurrent callers in shared statements. */
export class CoalescedInserts {
  readonly jobs: Coalescer<NewJob, StoredJob>;
  /** Runs with a time or a deadline. */
  readonly runs: Coalescer<NewRun, StoredRun>;
  /** Runs that may start at once. */
  readonly runsNow: Coalescer<NewRun, Instant>;
  readonly deduped: Coalescer<DedupedRun, DedupeOutcome>;

  constructor(
    { clock, emit, limits, store, wakeups }: CoalescedInsertsContext,
    { offers, channel }: CoalescedInsertsDeps,
  ) {
    const bounds: InsertBounds = {
      maxBatch: limits.insertBatch,
      maxQueued: limits.insertQueue,
      queueTimeout: { ms: limits.insertQueueTimeoutMs, monotonic: () => clock.monotonic() },
    };
    const horizonMs = farFutureHorizonMs(limits);
    const noticeFor = (queued: readonly Queued[]): Notice | null => wakeups.noticeFor(queued);
    this.jobs = insertJobs(store.jobs, bounds);
    this.runs = insertRuns(store.runs, { ...bounds, horizonMs });
    this.runsNow = insertRunsNow(store.runs, bounds, {
      onQueued: (queued, mode) => wakeups.runsQueued(queued, mode),
      noticeFor,
      direct: new DirectInsert({ store: store.directRuns, offers, channel, queuedNoticeFor: noticeFor }),
    });
    const onReplaced: OnReplaced = (replaced) => announceEnded(replaced, "cancelled", emit);
    this.deduped = insertDeduped(store.dedupes, { ...bounds, horizonMs, onReplaced });
  }

  /** The number of rows that wait to be written. */
  get waiting(): number {
    return [this.jobs, this.runs, this.runsNow, this.deduped].reduce((sum, one) => sum + one.queued, 0);
  }
}

/** While one batch commits, the next can be sent. */
const maxInFlight = 2;

/** Concurrent calls that create jobs share a statement. null: another job has the key. */
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

/** Concurrent calls that create runs share a statement. A run that is due beyond the horizon is stored in far_future_run. */
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
        if (one === undefined) throw new Error(`A run with the id ${run.id} already exists.`);
        return one;
      });
    },
  });
}

export interface RunsNowEvents {
  readonly onQueued: (queued: readonly Queued[], mode: NotifyMode) => void;
  /** The notice that the statement itself sends to other nodes; null: it sends none. */
  readonly noticeFor: (queued: readonly Queued[]) => Notice | null;
  /** Stores runs for a worker that offered a slot, if there is an offer. */
  readonly direct?: Pick<DirectInsert, "insert">;
}

/**
 * Runs that may start at once. This is the hottest insert, so its statement does as little as possible. A batch that is written alone sends
 * its NOTIFY in the same statement, which saves a round trip. Batches that are written side by side do not, because commits with a NOTIFY
 * wait for one another. Gateways are woken once per batch. Each caller gets the time at which its run was stored.
 */
export function insertRunsNow(
  runs: RunStore,
  bounds: InsertBounds,
  { onQueued, noticeFor, direct }: RunsNowEvents,
): Coalescer<NewRun, Instant> {
  return new Coalescer({
    ...bounds,
    maxInFlight,
    soon: systemSoon,
    write: async (batch, isAlone) => {
      const inserted = isAlone ? ((await direct?.insert(batch)) ?? null) : null;
      if (inserted?.isAssigned === false) onQueued(batch, "sent");
      if (inserted !== null) return batch.map(() => inserted.at);
      const notice = isAlone ? noticeFor(batch) : null;
      const at = await runs.insertNow(batch, notice);
      onQueued(batch, notice === null ? "batched" : "sent");
      return batch.map(() => at);
    },
  });
}

/** Runs with a dedupe key have a coalescer of their own: only they may have to wait for a caller's open transaction. */
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
