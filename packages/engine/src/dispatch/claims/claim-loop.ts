import type { DurationMs, Instant } from "@carillon/core";
import { type ClaimedRun, type Demand, type FinishedRun, isFaultOfRows } from "@carillon/store";
import type { SlotOfferer } from "../direct/slot-offerer.js";
import type { DispatchCatalog, DispatchContext } from "../dispatch-context.js";
import { publishFreed } from "../sessions/rescuer.js";
import type { WorkerSession } from "../sessions/worker-session.js";
import { TimedBatchSize } from "./batch-size.js";
import type { LaneCursors } from "./lane-cursors.js";
import type { LaneGroup } from "./lane-groups.js";
import type { ScanPlan, Wanted } from "./lane-scan-queue.js";
import { allocateSlots, type SlotAllocation } from "./slot-allocation.js";
import type { StrictClaims } from "./strict-claims.js";

export interface ClaimLoopDeps {
  readonly gatewayId: string;
  readonly cursors: LaneCursors;
  readonly groups: () => Iterable<LaneGroup>;
  readonly limitOwners: Pick<DispatchCatalog["limitOwners"], "revision">;
  readonly strict: Pick<StrictClaims, "wake">;
  readonly offerer: Pick<SlotOfferer, "claimed" | "slotsFreed">;
  /** Runs were claimed for these sessions. */
  readonly assign: (sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]) => void;
}

/** The outcome of results that were sent to the store. */
export interface CompletionResult {
  /** The runs whose result was accepted, and is durable, with the time of their end. */
  readonly accepted: ReadonlyMap<string, Instant>;
  /** Results that the database cannot store. */
  readonly faults: readonly { readonly run: FinishedRun; readonly error: unknown }[];
}

interface Completions {
  readonly runs: readonly FinishedRun[];
  readonly resolve: (result: CompletionResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Claim {
  readonly group: LaneGroup;
  readonly slots: SlotAllocation;
  readonly plan: ScanPlan;
  /** Read together with the plan: a claim whose revision is older than the database's claims nothing. */
  readonly limitsRevision: number;
}

const maxInFlight = 3;
const pauseAfterErrorMs = 500;

/**
 * Stores results and claims runs for workers with room, both in one statement: at once when there is something to do. Results and demand
 * that arrive while three statements are under way share the next: two connections execute them, and neither waits for its next.
 */
export class ClaimLoop {
  readonly #context: DispatchContext;
  readonly #deps: ClaimLoopDeps;
  #completions: Completions[] = [];
  #inFlight = 0;
  #timer: unknown = null;
  #pausedUntil: DurationMs = 0;
  #isStopped = false;
  #turn = 0;
  readonly #sharedBatchSize: TimedBatchSize;

  constructor(context: DispatchContext, deps: ClaimLoopDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#sharedBatchSize = new TimedBatchSize(context.limits.claimBatch);
  }

  /** For runs that succeeded. */
  complete(runs: readonly FinishedRun[]): Promise<CompletionResult> {
    return new Promise((resolve, reject) => {
      this.#completions.push({ runs, resolve, reject });
      this.wake();
    });
  }

  /** There may be results, demand, or runs for it. */
  wake(): void {
    // A strict queue that needs a slot takes it before slots are allocated to the others.
    this.#deps.strict.wake();
    while (this.#inFlight < maxInFlight) {
      const completions = this.#takeCompletions();
      const isResting = this.#isStopped || this.#context.clock.monotonic() < this.#pausedUntil;
      const claim = isResting ? null : this.#nextClaim();
      if (completions.length === 0 && claim === null) break;
      this.#inFlight++;
      void this.#completeAndClaim(completions, claim).finally(() => {
        this.#inFlight--;
        this.wake();
      });
    }
    this.#wakeLater();
    // The slots that are free now are not claimed for.
    this.#deps.offerer.slotsFreed();
  }

  /** Claims nothing more; results that were accepted for storing are stored. */
  stop(): void {
    this.#isStopped = true;
    this.#context.timers.clearTimeout(this.#timer);
  }

  #takeCompletions(): Completions[] {
    let count = 0;
    let taken = 0;
    const isShared = [...this.#deps.groups()].some((group) => group.isShared);
    const batch = isShared ? this.#sharedBatchSize.size : this.#context.limits.claimBatch;
    while (taken < this.#completions.length && count < batch) count += this.#completions[taken++]?.runs.length ?? 0;
    return this.#completions.splice(0, taken);
  }

  /** Groups take turns. */
  #nextClaim(): Claim | null {
    const { clock, limits } = this.#context;
    const now = clock.monotonic();
    const groups = [...this.#deps.groups()];
    for (let offset = 1; offset <= groups.length; offset++) {
      const group = groups[(this.#turn + offset) % groups.length];
      if (group?.scans.isReady(now) !== true) continue;
      const max = group.isShared ? this.#sharedBatchSize.size : limits.claimBatch;
      const slots = allocateSlots(group.sessions, Math.min(max, group.batchSize.size), group);
      if (slots.order.length === 0) continue;
      const plan = group.scans.plan(wantedFor(slots), now, group.turns);
      if (plan.scans.length === 0) continue;
      this.#turn = (this.#turn + offset) % groups.length;
      for (const index of slots.order) slots.sessions[index]?.beginClaim(group);
      return { group, slots, plan, limitsRevision: this.#deps.limitOwners.revision };
    }
    return null;
  }

  async #completeAndClaim(completions: readonly Completions[], claim: Claim | null): Promise<void> {
    const { clock, store, wakeups, loopFailed } = this.#context;
    const { gatewayId } = this.#deps;
    const succeeded = completions.flatMap((one) => one.runs);
    const startedAt = clock.monotonic();
    try {
      const { claimed, accepted, finishedAt, freedJobs } = await store.claims.completeAndClaim({
        succeeded,
        demand: claim === null ? null : { gatewayId, ...demandOf(claim) },
      });
      const durationMs = clock.monotonic() - startedAt;
      this.#sharedBatchSize.record(Math.max(succeeded.length, claimed.length), durationMs);
      if (claim !== null) this.#claimed(claim, claimed, durationMs);
      answer(completions, accepted, finishedAt);
      publishFreed(wakeups, freedJobs);
    } catch (error) {
      if (claim !== null) this.#failed(claim);
      if (isFaultOfRows(error) && succeeded.length > 0) return await this.#completeApart(completions, error);
      this.#pausedUntil = clock.monotonic() + pauseAfterErrorMs;
      for (const one of completions) one.reject(error);
      loopFailed("gateway", error);
    }
  }

  /** One result that the database cannot store must not keep the others from being stored. */
  async #completeApart(completions: readonly Completions[], error: unknown): Promise<void> {
    if (completions.length > 1) {
      for (const one of completions) await this.#completeAndClaim([one], null);
      return;
    }
    const [{ runs, resolve, reject }] = completions as readonly [Completions];
    const [run] = runs;
    if (run !== undefined && runs.length === 1) return resolve({ accepted: new Map(), faults: [{ run, error }] });
    const half = Math.ceil(runs.length / 2);
    const parts = [runs.slice(0, half), runs.slice(half)].map((part) => this.#completePart(part));
    try {
      const [first, second] = (await Promise.all(parts)) as [CompletionResult, CompletionResult];
      resolve({
        accepted: new Map([...first.accepted, ...second.accepted]),
        faults: [...first.faults, ...second.faults],
      });
    } catch (reason) {
      reject(reason);
    }
  }

  #completePart(runs: readonly FinishedRun[]): Promise<CompletionResult> {
    return new Promise((resolve, reject) => void this.#completeAndClaim([{ runs, resolve, reject }], null));
  }

  #claimed({ group, slots, plan }: Claim, runs: readonly ClaimedRun[], durationMs: DurationMs): void {
    const { clock, store, wakeups } = this.#context;
    const { cursors, assign, offerer } = this.#deps;
    const { scans, quotas, shares } = plan;
    cursors.settle(
      scans,
      { claimed: runs, slots: slots.order.length, free: slots.free, quotas, durationMs },
      clock.monotonic(),
    );
    group.batchSize.record(runs);
    if (shares !== null) group.turns.settle(shares, countByNamespace(runs));
    // Assigned before the claim ends: in between, the slot would count as free.
    assign(slots.sessions, runs);
    const limited = runs.filter(({ lane }) => store.lanes.get(lane)?.kind === "admitted");
    if (limited.length > 0)
      wakeups.publish(
        "limits.claimed",
        limited.map((run) => run.id),
      );
    for (const index of slots.order) slots.sessions[index]?.endClaim(group);
    offerer.claimed(group, runs);
  }

  /** The claim may have been committed all the same. */
  #failed({ group, slots, plan }: Claim): void {
    const { now } = this.#context;
    this.#deps.cursors.failed(plan.scans);
    if (plan.shares !== null) group.turns.settle(plan.shares, new Map());
    for (const session of slots.sessions) session.unconfirmed.begin(now());
    for (const index of slots.order) slots.sessions[index]?.endClaim(group);
  }

  /** At the next full scan of a group with room. */
  #wakeLater(): void {
    const { timers, clock } = this.#context;
    timers.clearTimeout(this.#timer);
    if (this.#isStopped || this.#inFlight >= maxInFlight) return;
    let next = Number.POSITIVE_INFINITY;
    for (const group of this.#deps.groups()) {
      next = Math.min(next, group.scans.nextFullScanAt(wantedBy(group)));
    }
    if (next === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(next, this.#pausedUntil) - clock.monotonic();
    this.#timer = timers.setTimeout(() => this.wake(), Math.max(1, Math.ceil(delayMs)));
  }
}

function wantedFor({ order, free, forLostRuns }: SlotAllocation): Wanted {
  return { slots: order.length, free, forLostRuns };
}

/** Whether sessions have room at all, for each kind of lane. */
function wantedBy(group: LaneGroup): Wanted {
  const wanted = { slots: 0, free: 0, forLostRuns: 0 };
  for (const session of group.sessions) {
    const free = session.freeFor(group);
    if (free > 0 || session.roomFor(group) > 0) wanted.slots = 1;
    if (free > 0) wanted.free = 1;
    if (free > 0 && !session.hasLostRun) wanted.forLostRuns = 1;
    if (wanted.forLostRuns > 0) break;
  }
  return wanted;
}

function countByNamespace(runs: readonly ClaimedRun[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { namespaceId } of runs) counts.set(namespaceId, (counts.get(namespaceId) ?? 0) + 1);
  return counts;
}

function demandOf({ slots, plan, limitsRevision }: Claim): Omit<Demand, "gatewayId"> {
  return {
    limitsRevision,
    sessions: slots.sessions.map((session) => session.id),
    slots: slots.order,
    freeSlots: slots.free,
    reads: plan.scans.map((scan) => scan.read),
    quotas: plan.quotas,
  };
}

function answer(completions: readonly Completions[], accepted: ReadonlySet<string> | null, finishedAt: Instant): void {
  for (const { runs, resolve } of completions) {
    const own = new Map<string, Instant>();
    for (const { id } of runs) if (accepted?.has(id) ?? true) own.set(id, finishedAt);
    resolve({ accepted: own, faults: [] });
  }
}
