import type { QueueCache } from "../catalog/queues.js";
import { CarillonError, type DurationMs, type Instant, type JobSpec, withTrace } from "@carillon/core";
import { laneNameOf } from "../catalog/lane-name.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { Applied, JobTransactionStore } from "../jobs/transaction/job-unit-of-work.js";
import type { BackfillStep, DueBackfill, Fence, HeldBackfill, Queryable } from "@carillon/store";
import type { PastRule, PastRules } from "./past-rules.js";
import { placeInstants, type PlacedInstants } from "./place-instants.js";

export interface StepOptions {
  readonly store: Pick<JobTransactionStore, "historyTransaction" | "unitOfWork" | "backfills" | "past" | "lanes"> & {
    readonly queueBook: Pick<QueueCache, "ensure" | "isKnown" | "orderOf">;
  };
  readonly rules: PastRules;
  /** The database's clock; paces only. */
  readonly now: () => Instant;
}

export interface StepReport {
  readonly backfillId: string;
  readonly jobId: string;
  readonly shard: number;
  readonly step: BackfillStep;
  /** It got on, or has ended; otherwise it waits for the schedule, or for room. */
  readonly moved: boolean;
  readonly settled: Applied;
}

/** Instants of one step: those that ran cost no run, and are read together. */
const mostInstants = 500;
/** A rate is kept in slices of this length: as many runs at once as it allows in a slice, and at least one. */
const sliceMs: DurationMs = 100;
/** An occurrence that the schedule has not settled yet is waited for. */
const unsettledMs: DurationMs = 1_000;

/**
 * Moves a backfill on by one step: one transaction that takes the job under the shard's fence, decides over the next
 * instants, makes their runs and moves `through`. Whoever does the same at the same time waits, and finds it done.
 */
export class StepTaker {
  readonly #options: StepOptions;

  constructor(options: StepOptions) {
    this.#options = options;
  }

  /** Null: it has ended, its time has not come, somebody holds the job, or the shard is another node's. */
  async take(fence: Fence, due: DueBackfill): Promise<StepReport | null> {
    const { store } = this.#options;
    for (;;) {
      try {
        return await store.historyTransaction((tx) => this.#once(tx, fence, due));
      } catch (error) {
        if (!(error instanceof PlaceWanted)) throw error;
        await error.make();
      }
    }
  }

  async #once(tx: Queryable, fence: Fence, { id, jobId, shard }: DueBackfill): Promise<StepReport | null> {
    const { backfills, unitOfWork } = this.#options.store;
    if (!(await backfills.lockJob(tx, fence, jobId))) return null;
    const held = await backfills.hold(tx, id);
    if (held === null || held.nextStepAt > this.#options.now()) return null;
    const [draft] = await unitOfWork.open(tx, [jobId]);
    if (draft === undefined) throw new Error(`job ${jobId} was locked and cannot be read`);
    const { step, settled } = await this.#move(tx, draft, held);
    await backfills.step(tx, held, step);
    const moved = step.through !== held.through || step.state !== "running";
    return { backfillId: id, jobId, shard, step, moved, settled };
  }

  async #move(tx: Queryable, draft: JobDraft, held: HeldBackfill): Promise<{ step: BackfillStep; settled: Applied }> {
    if (draft.job.endedAt !== null) return { step: this.#aborted(held, "job_cancelled"), settled: nothing };
    const after = held.through ?? held.from - 1;
    const rule = await this.#ruleAt(tx, draft, after);
    if (rule instanceof CarillonError) return { step: this.#aborted(held, rule.message), settled: nothing };
    const settledTo = settledThrough(draft);
    const end = Math.min(rule.through, held.to, settledTo);
    const instants = instantsOf(rule, after, end);
    const live = await this.#options.store.backfills.live(tx, held.runIds);
    const ran = held.repeats ? new Set<Instant>() : await this.#options.store.past.ran(tx, held.jobId, instants);
    const room = Math.max(0, concurrencyOf(held, draft) - live.length);
    const mostDecided = Math.max(1, Math.floor((held.perSecond * sliceMs) / 1_000));
    const placed = placeInstants(draft, { backfill: held, rule, instants, ran, room, mostDecided });
    const settled = await this.#write(tx, draft, traced(rule, held), placed);
    const isAll = instants.length < mostInstants && placed.through === (instants.at(-1) ?? null);
    const through = isAll && end > after ? end : (placed.through ?? held.through);
    return { step: this.#after(held, placed, { through, live, waits: isAll && end === settledTo }), settled };
  }

  /** The rule, or why it cannot be read any more. */
  async #ruleAt(tx: Queryable, { job }: JobDraft, after: Instant): Promise<PastRule | CarillonError> {
    try {
      return await this.#options.rules.at(tx, job, after);
    } catch (error) {
      if (error instanceof CarillonError) return error;
      throw error;
    }
  }

  async #write(tx: Queryable, draft: JobDraft, rule: PastRule, placed: PlacedInstants): Promise<Applied> {
    const { unitOfWork, past } = this.#options.store;
    await past.note(tx, placed.entries);
    if (draft.runs.length === 0) return nothing;
    if (rule.replaced === null) return unitOfWork.write(tx, [draft]);
    const { version, spec } = rule.replaced;
    const source = { jobId: draft.job.id, version, spec, lane: this.#laneOf(draft.job.namespaceId, spec) };
    return unitOfWork.write(tx, [draft], (over, runs) => past.insertRuns(over, runs, source));
  }

  #laneOf(namespaceId: number, spec: JobSpec): number {
    const { lanes, queueBook } = this.#options.store;
    // A job's queue was known to whoever made it, and is made again by nobody: this node may only not have read it yet.
    if (!queueBook.isKnown(namespaceId, spec.queue))
      throw new PlaceWanted(() => queueBook.ensure(namespaceId, [spec.queue]));
    const name = laneNameOf(spec, queueBook.orderOf(namespaceId, spec.queue));
    const lane = lanes.known(name);
    if (lane === null) throw new PlaceWanted(async () => void (await lanes.ensure([name])));
    return lane;
  }

  #after(
    held: HeldBackfill,
    { runIds, passed, skipped }: PlacedInstants,
    at: { through: Instant | null; live: readonly string[]; waits: boolean },
  ): BackfillStep {
    const decided = runIds.length + skipped;
    const isDone = at.through !== null && at.through >= held.to;
    const pauseMs = Math.max((decided * 1_000) / held.perSecond, at.waits ? unsettledMs : 0);
    return {
      through: at.through,
      made: runIds.length,
      passed,
      skipped,
      runIds: [...at.live, ...runIds],
      nextStepAt: Math.ceil(this.#options.now() + pauseMs),
      state: isDone ? "done" : "running",
      reason: null,
    };
  }

  #aborted({ through }: HeldBackfill, reason: string): BackfillStep {
    const nextStepAt = this.#options.now();
    return { through, made: 0, passed: 0, skipped: 0, runIds: [], nextStepAt, state: "aborted", reason };
  }
}

/** A rule of the past says what its runs are like; in whose trace they go on, whoever asked for them. */
function traced(rule: PastRule, { trace }: HeldBackfill): PastRule {
  const { replaced } = rule;
  if (replaced === null || trace === null) return rule;
  const { spec } = replaced;
  return { ...rule, replaced: { ...replaced, spec: { ...spec, policy: withTrace(spec.policy, trace) } } };
}

const nothing: Applied = { made: new Map(), queued: [], ended: [], stopped: [], entries: [], fires: [] };

/** Where runs of the job may not overlap, a backfill makes one at a time: it is not in its own way. */
function concurrencyOf({ force, concurrency }: HeldBackfill, { due: { overlap } }: JobDraft): number {
  return force || overlap === "allow" || overlap === "queue_all" ? concurrency : 1;
}

/** What comes later is the schedule's: it has not come, or is held, or is about to be fired. */
function settledThrough({ due: { state, nominal } }: JobDraft): Instant {
  return state === "active" && nominal !== null ? nominal - 1 : Number.POSITIVE_INFINITY;
}

function instantsOf({ schedule }: PastRule, after: Instant, end: Instant): Instant[] {
  const instants: Instant[] = [];
  let next = schedule.nextNominal(after);
  while (next !== -1 && next <= end && instants.length < mostInstants) {
    instants.push(next);
    next = schedule.nextNominal(next);
  }
  return instants;
}

/** A definition of the past names a queue or a lane that this node does not know: it is looked up outside the transaction. */
class PlaceWanted extends Error {
  readonly make: () => Promise<void>;
  constructor(make: () => Promise<void>) {
    super("a queue or a lane is not known yet");
    this.make = make;
  }
}
