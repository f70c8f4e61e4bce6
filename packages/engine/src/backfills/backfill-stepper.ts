import {
  CarillonError,
  type DurationMs,
  formatId,
  type Instant,
  type JobSpec,
  type LedgerReason,
  occurrenceRunId,
  withTrace,
} from "@carillon/core";
import type { BackfillStep, DueBackfill, Fence, HeldBackfill, LedgerEntry, Queryable } from "@carillon/store";
import { laneNameOf } from "../catalog/lanes.js";
import type { QueueCache } from "../catalog/queues.js";
import type { EngineContext } from "../context.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { Applied, JobUnitOfWork } from "../jobs/transaction/job-unit-of-work.js";
import type { PastRule, PastRules } from "./past-rules.js";

type Context = Pick<EngineContext, "now"> & {
  readonly store: Pick<EngineContext["store"], "historyTransaction" | "backfills" | "past" | "lanes">;
};

export interface BackfillStepperDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly queues: Pick<QueueCache, "ensure" | "isKnown" | "orderOf">;
  readonly rules: PastRules;
}

export interface StepReport {
  readonly backfillId: string;
  readonly jobId: string;
  readonly shard: number;
  readonly step: BackfillStep;
  /** Whether it progressed or ended; otherwise it waits for the schedule, or for its concurrency. */
  readonly moved: boolean;
  readonly applied: Applied;
}

/** Instants of one step: those that ran already cost no run, and are read together. */
const maxInstants = 500;
/** A step makes as many runs as the rate allows in a slice of this length, at least one. */
const sliceMs: DurationMs = 100;
/** The pause before the next step while the schedule itself has not fired or skipped an occurrence yet. */
const unsettledMs: DurationMs = 1_000;

/**
 * Takes one step of a backfill: one transaction that locks the job under the shard's fence, decides over the next instants,
 * makes their runs and advances `through`. A node that takes the same step concurrently waits for the lock and finds it done.
 */
export class BackfillStepper {
  /** now: the database's clock. It paces; no safety rests on it. */
  readonly #context: Context;
  readonly #deps: BackfillStepperDeps;

  constructor(context: Context, deps: BackfillStepperDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** null: it has ended, the next step is not due, another transaction holds the job, or another node owns the shard. */
  async take(fence: Fence, due: DueBackfill): Promise<StepReport | null> {
    const { store } = this.#context;
    for (;;) {
      try {
        return await store.historyTransaction((tx) => this.#once(tx, fence, due));
      } catch (error) {
        if (!(error instanceof UnknownLane)) throw error;
        await error.resolve();
      }
    }
  }

  async #once(tx: Queryable, fence: Fence, { id, jobId, shard }: DueBackfill): Promise<StepReport | null> {
    const { backfills } = this.#context.store;
    if (!(await backfills.lockJob(tx, fence, jobId))) return null;
    const held = await backfills.hold(tx, id);
    if (held === null || held.nextStepAt > this.#context.now()) return null;
    const [draft] = await this.#deps.unitOfWork.open(tx, [jobId]);
    if (draft === undefined) throw new Error(`Job ${jobId} was locked and cannot be read.`);
    const { step, applied } = await this.#move(tx, draft, held);
    await backfills.step(tx, held, step);
    const moved = step.through !== held.through || step.state !== "running";
    return { backfillId: id, jobId, shard, step, moved, applied };
  }

  async #move(tx: Queryable, draft: JobDraft, held: HeldBackfill): Promise<{ step: BackfillStep; applied: Applied }> {
    if (draft.job.endedAt !== null) return { step: this.#aborted(held, "job_cancelled"), applied: nothing };
    const after = held.through ?? held.from - 1;
    const rule = await this.#ruleAt(tx, draft, after);
    if (rule instanceof CarillonError) return { step: this.#aborted(held, rule.message), applied: nothing };
    const scheduledTo = scheduledThrough(draft);
    const end = Math.min(rule.through, held.to, scheduledTo);
    const instants = instantsOf(rule, after, end);
    const live = await this.#context.store.backfills.live(tx, held.runIds);
    const ran = held.repeats ? new Set<Instant>() : await this.#context.store.past.ran(tx, held.jobId, instants);
    const room = Math.max(0, concurrencyOf(held, draft) - live.length);
    const maxDecided = Math.max(1, Math.floor((held.perSecond * sliceMs) / 1_000));
    const placed = placeInstants(draft, { backfill: held, rule, instants, ran, room, maxDecided });
    const applied = await this.#write(tx, draft, traced(rule, held), placed);
    const isAll = instants.length < maxInstants && placed.through === (instants.at(-1) ?? null);
    const through = isAll && end > after ? end : (placed.through ?? held.through);
    return { step: this.#after(held, placed, { through, live, waits: isAll && end === scheduledTo }), applied };
  }

  /** The rule, or why it is no longer readable. */
  async #ruleAt(tx: Queryable, { job }: JobDraft, after: Instant): Promise<PastRule | CarillonError> {
    try {
      return await this.#deps.rules.at(tx, job, after);
    } catch (error) {
      if (error instanceof CarillonError) return error;
      throw error;
    }
  }

  async #write(tx: Queryable, draft: JobDraft, rule: PastRule, placed: PlacedInstants): Promise<Applied> {
    const { past } = this.#context.store;
    const { unitOfWork } = this.#deps;
    await past.note(tx, placed.entries);
    if (draft.runs.length === 0) return nothing;
    if (rule.replaced === null) return unitOfWork.write(tx, [draft]);
    const { version, spec } = rule.replaced;
    const source = { jobId: draft.job.id, version, spec, lane: this.#laneOf(draft.job.namespaceId, spec) };
    return unitOfWork.write(tx, [draft], (over, runs) => past.insertRuns(over, runs, source));
  }

  #laneOf(namespaceId: number, spec: JobSpec): number {
    const { lanes } = this.#context.store;
    const { queues } = this.#deps;
    // The queue exists since the job was created, but this node may not have read it yet.
    if (!queues.isKnown(namespaceId, spec.queue)) throw new UnknownLane(() => queues.ensure(namespaceId, [spec.queue]));
    const name = laneNameOf(spec, queues.orderOf(namespaceId, spec.queue));
    const lane = lanes.known(name);
    if (lane === null) throw new UnknownLane(async () => void (await lanes.ensure([name])));
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
      nextStepAt: Math.ceil(this.#context.now() + pauseMs),
      state: isDone ? "done" : "running",
      reason: null,
    };
  }

  #aborted({ through }: HeldBackfill, reason: string): BackfillStep {
    const nextStepAt = this.#context.now();
    return { through, made: 0, passed: 0, skipped: 0, runIds: [], nextStepAt, state: "aborted", reason };
  }
}

/** A past rule defines its runs, except for their trace: that is the backfill's. */
function traced(rule: PastRule, { trace }: HeldBackfill): PastRule {
  const { replaced } = rule;
  if (replaced === null || trace === null) return rule;
  const { spec } = replaced;
  return { ...rule, replaced: { ...replaced, spec: { ...spec, policy: withTrace(spec.policy, trace) } } };
}

const nothing: Applied = { made: new Map(), queued: [], ended: [], stopped: [], entries: [], fires: [] };

/** If runs of the job may not overlap, a backfill makes one at a time: its own runs must not block each other. */
function concurrencyOf({ force, concurrency }: HeldBackfill, { due: { overlap } }: JobDraft): number {
  return force || overlap === "allow" || overlap === "queue_all" ? concurrency : 1;
}

/** Later instants belong to the schedule, which has not fired or skipped them yet. */
function scheduledThrough({ due: { state, nominal } }: JobDraft): Instant {
  return state === "active" && nominal !== null ? nominal - 1 : Number.POSITIVE_INFINITY;
}

function instantsOf({ schedule }: PastRule, after: Instant, end: Instant): Instant[] {
  const instants: Instant[] = [];
  let next = schedule.nextNominal(after);
  while (next !== -1 && next <= end && instants.length < maxInstants) {
    instants.push(next);
    next = schedule.nextNominal(next);
  }
  return instants;
}

/** A past definition names a queue or a lane that this node does not know: the node reads it outside the transaction. */
class UnknownLane extends Error {
  readonly resolve: () => Promise<void>;
  constructor(resolve: () => Promise<void>) {
    super("This node does not know a queue or a lane yet.");
    this.resolve = resolve;
  }
}

/** Instants of one rule, in their order, and the bounds of the step that decides over them. */
interface Placement {
  readonly backfill: HeldBackfill;
  readonly rule: PastRule;
  readonly instants: readonly Instant[];
  /** The instants that have a run already. */
  readonly ran: ReadonlySet<Instant>;
  /** How many runs the backfill's concurrency allows. */
  readonly room: number;
  /** The most runs made and refused, together. */
  readonly maxDecided: number;
}

interface PlacedInstants {
  /** The last instant that was decided; null: none. */
  readonly through: Instant | null;
  readonly runIds: readonly string[];
  readonly passed: number;
  readonly skipped: number;
  readonly entries: readonly LedgerEntry[];
}

/** Decides over instants one by one: passed because it ran, run, or refused by the overlap policy. Writes into the draft. */
function placeInstants(draft: JobDraft, placement: Placement): PlacedInstants {
  const { backfill, rule, instants, ran, room, maxDecided } = placement;
  const ledger = new StepLedger(draft, backfill, rule);
  const trigger = `backfill:${backfill.id}`;
  const priority = rule.replaced?.spec.priority;
  const overrides = {
    ...(priority !== undefined && { priority }),
    ...(backfill.trace !== null && { policy: withTrace(draft.job.policy, backfill.trace) }),
  };
  const runIds: string[] = [];
  let [through, passed, skipped]: [Instant | null, number, number] = [null, 0, 0];
  for (const nominal of instants) {
    if (ran.has(nominal) && !backfill.repeats) {
      passed += 1;
      ledger.add("already_ran", nominal);
    } else {
      if (runIds.length >= room || runIds.length + skipped >= maxDecided) break;
      const id = occurrenceRunId(draft.job.id, nominal, trigger);
      const placed = draft.place({
        id,
        trigger,
        nominal,
        runAt: draft.job.now,
        overrides,
        force: backfill.force,
      });
      if (placed === "refused") {
        skipped += 1;
        ledger.add("overlap", nominal);
      } else {
        runIds.push(id);
        ledger.close();
      }
    }
    through = nominal;
  }
  return { through, runIds, passed, skipped, entries: ledger.entries };
}

/** Adjacent instants with the same reason share one entry. */
class StepLedger {
  readonly entries: LedgerEntry[] = [];
  readonly #blank: Omit<LedgerEntry, "reason" | "from" | "to" | "count">;
  #isOpen = false;

  constructor({ job }: JobDraft, { id }: HeldBackfill, { replaced }: PastRule) {
    const version = replaced?.version ?? job.due.version;
    this.#blank = { jobId: job.id, namespaceId: job.namespaceId, version, detail: formatId("bkf", id) };
  }

  add(reason: LedgerReason, at: Instant): void {
    const last = this.entries.at(-1);
    if (this.#isOpen && last !== undefined && last.reason === reason)
      this.entries[this.entries.length - 1] = { ...last, to: at, count: last.count + 1 };
    else this.entries.push({ ...this.#blank, reason, from: at, to: at, count: 1 });
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }
}
