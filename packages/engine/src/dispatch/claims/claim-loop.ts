import type { DurationMs, Timers } from "@carillon/core";
import { type ClaimedRun, type ClaimStore, type Demand, type FinishedRun, isFaultOfRows } from "@carillon/store";
import type { Plan, Wanted } from "./lane-scan-queue.js";
import type { LaneBounds } from "./lane-bounds.js";
import type { LaneGroup } from "./lane-group.js";
import { dealPlaces, type Places } from "./slot-allocation.js";
import { TurnLength } from "./turn-length.js";

export interface ExchangerOptions {
  readonly gatewayId: string;
  readonly claims: Pick<ClaimStore, "exchange">;
  readonly bounds: LaneBounds;
  readonly groups: () => Iterable<LaneGroup>;
  readonly timers: Timers;
  readonly monotonic: () => DurationMs;
  /** Runs that succeeded or are claimed by one statement. */
  readonly batch: number;
  /** Of the limits of queues and namespaces that plans go by. */
  readonly limitsRevision: () => number;
  /** Before places are dealt out: whoever needs one of them first takes it now. */
  readonly onWake: () => void;
  /** After it: what is free now is nobody's. */
  readonly onWoken: () => void;
  /** Claimed for a session. */
  readonly onClaimed: (places: Places, runs: readonly ClaimedRun[]) => void;
  /** After a claim was answered and its places are settled. */
  readonly onSettled: (group: LaneGroup, runs: readonly ClaimedRun[]) => void;
  /** A claim failed, and may have been done all the same. */
  readonly onDoubt: (places: Places) => void;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
}

/** What became of results. */
export interface Settled {
  /** The ids whose result was accepted, and is durable. */
  readonly accepted: ReadonlySet<string>;
  /** Results that the database cannot hold. */
  readonly faults: readonly { readonly run: FinishedRun; readonly error: unknown }[];
}

interface Results {
  readonly runs: readonly FinishedRun[];
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: unknown) => void;
}

interface Claim {
  readonly group: LaneGroup;
  readonly places: Places;
  readonly plan: Plan;
  /** Read together with the plan: a claim that goes by other limits than the database's claims nothing. */
  readonly limitsRevision: number;
}

const maxInFlight = 3;
const pauseAfterErrorMs = 500;

/**
 * Brings results to the store and claims for whoever waits, both in one statement: at once when there is something to do, and
 * what comes while three are under way goes together with the next: two connections carry them, and none waits for its next.
 */
export class Exchanger {
  readonly #options: ExchangerOptions;
  #results: Results[] = [];
  #inFlight = 0;
  #timer: unknown = null;
  #pausedUntil: DurationMs = 0;
  #isStopped = false;
  #turn = 0;
  readonly #turnLength: TurnLength;

  constructor(options: ExchangerOptions) {
    this.#options = options;
    this.#turnLength = new TurnLength(options.batch);
  }

  /** For runs that succeeded. */
  finish(runs: readonly FinishedRun[]): Promise<Settled> {
    return new Promise((resolve, reject) => {
      this.#results.push({ runs, resolve, reject });
      this.wake();
    });
  }

  /** Something may be there to do: results, demand, or runs for it. */
  wake(): void {
    this.#options.onWake();
    while (this.#inFlight < maxInFlight) {
      const results = this.#takeResults();
      const isResting = this.#isStopped || this.#options.monotonic() < this.#pausedUntil;
      const claim = isResting ? null : this.#nextClaim();
      if (results.length === 0 && claim === null) break;
      this.#inFlight++;
      void this.#exchange(results, claim).finally(() => {
        this.#inFlight--;
        this.wake();
      });
    }
    this.#wakeLater();
    this.#options.onWoken();
  }

  /** Claims nothing more; results that were given go on. */
  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  #takeResults(): Results[] {
    let count = 0;
    let taken = 0;
    const batch = [...this.#options.groups()].some(isShared) ? this.#turnLength.size : this.#options.batch;
    while (taken < this.#results.length && count < batch) count += this.#results[taken++]?.runs.length ?? 0;
    return this.#results.splice(0, taken);
  }

  /** Groups take turns. */
  #nextClaim(): Claim | null {
    const { batch, monotonic } = this.#options;
    const now = monotonic();
    const groups = [...this.#options.groups()];
    for (let offset = 1; offset <= groups.length; offset++) {
      const group = groups[(this.#turn + offset) % groups.length];
      if (group?.agenda.isReady(now) !== true) continue;
      const most = isShared(group) ? this.#turnLength.size : batch;
      const places = dealPlaces(group.sessions, Math.min(most, group.answers.size), group);
      if (places.order.length === 0) continue;
      const plan = group.agenda.plan(wantedFor(places), now, group.turns);
      if (plan.looks.length === 0) continue;
      this.#turn = (this.#turn + offset) % groups.length;
      for (const index of places.order) places.sessions[index]?.promise(group);
      return { group, places, plan, limitsRevision: this.#options.limitsRevision() };
    }
    return null;
  }

  async #exchange(results: readonly Results[], claim: Claim | null): Promise<void> {
    const { gatewayId, claims, monotonic, onFreed, onError } = this.#options;
    const succeeded = results.flatMap((one) => one.runs);
    const startedAt = monotonic();
    try {
      const { claimed, accepted, freedJobs } = await claims.exchange({
        succeeded,
        demand: claim === null ? null : { gatewayId, ...demandOf(claim) },
      });
      const durationMs = monotonic() - startedAt;
      this.#turnLength.took(Math.max(succeeded.length, claimed.length), durationMs);
      if (claim !== null) this.#claimed(claim, claimed, durationMs);
      answer(results, accepted);
      onFreed(freedJobs);
    } catch (error) {
      if (claim !== null) this.#failed(claim);
      if (isFaultOfRows(error) && succeeded.length > 0) return await this.#finishApart(results, error);
      this.#pausedUntil = monotonic() + pauseAfterErrorMs;
      for (const one of results) one.reject(error);
      onError(error);
    }
  }

  /** One result that the database cannot take must not keep the others from it. */
  async #finishApart(results: readonly Results[], error: unknown): Promise<void> {
    if (results.length > 1) {
      for (const one of results) await this.#exchange([one], null);
      return;
    }
    const [{ runs, resolve, reject }] = results as readonly [Results];
    const [run] = runs;
    if (run !== undefined && runs.length === 1) return resolve({ accepted: new Set(), faults: [{ run, error }] });
    const half = Math.ceil(runs.length / 2);
    const parts = [runs.slice(0, half), runs.slice(half)].map((part) => this.#finishPart(part));
    try {
      const [first, second] = (await Promise.all(parts)) as [Settled, Settled];
      resolve({
        accepted: new Set([...first.accepted, ...second.accepted]),
        faults: [...first.faults, ...second.faults],
      });
    } catch (reason) {
      reject(reason);
    }
  }

  #finishPart(runs: readonly FinishedRun[]): Promise<Settled> {
    return new Promise((resolve, reject) => void this.#exchange([{ runs, resolve, reject }], null));
  }

  #claimed({ group, places, plan }: Claim, runs: readonly ClaimedRun[], durationMs: DurationMs): void {
    const { bounds, monotonic, onClaimed, onSettled } = this.#options;
    const { looks, quotas, deal } = plan;
    const taken = { claimed: runs, places: places.order.length, free: places.free, quotas, durationMs };
    bounds.took(looks, taken, monotonic());
    group.answers.took(runs);
    if (deal !== null) group.turns.settle(deal, countByNamespace(runs));
    // Held before the promise is settled: a place is never counted as free in between.
    onClaimed(places, runs);
    for (const index of places.order) places.sessions[index]?.settle(group);
    onSettled(group, runs);
  }

  #failed({ group, places, plan }: Claim): void {
    this.#options.bounds.failed(plan.looks);
    if (plan.deal !== null) group.turns.settle(plan.deal, new Map());
    this.#options.onDoubt(places);
    for (const index of places.order) places.sessions[index]?.settle(group);
  }

  /** The next full look of a group that waits. */
  #wakeLater(): void {
    const { timers, monotonic } = this.#options;
    timers.clearTimeout(this.#timer);
    if (this.#isStopped || this.#inFlight >= maxInFlight) return;
    let next = Number.POSITIVE_INFINITY;
    for (const group of this.#options.groups()) {
      next = Math.min(next, group.agenda.nextFullLook(wantedBy(group)));
    }
    if (next === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(next, this.#pausedUntil) - monotonic();
    this.#timer = timers.setTimeout(() => this.wake(), Math.max(1, Math.ceil(delayMs)));
  }
}

function wantedFor({ order, free, apart }: Places): Wanted {
  return { places: order.length, free, apart };
}

/** Whether sessions wait at all, for each kind of lane. */
function wantedBy(group: LaneGroup): Wanted {
  const wanted = { places: 0, free: 0, apart: 0 };
  for (const session of group.sessions) {
    const free = session.freeFor(group);
    if (free > 0 || session.roomFor(group) > 0) wanted.places = 1;
    if (free > 0) wanted.free = 1;
    if (free > 0 && !session.hasLost) wanted.apart = 1;
    if (wanted.apart > 0) break;
  }
  return wanted;
}

function countByNamespace(runs: readonly ClaimedRun[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { namespaceId } of runs) counts.set(namespaceId, (counts.get(namespaceId) ?? 0) + 1);
  return counts;
}

/** Its workers serve several namespaces. */
const isShared = ({ only }: LaneGroup): boolean => only === null;

function demandOf({ places, plan, limitsRevision }: Claim): Omit<Demand, "gatewayId"> {
  return {
    limitsRevision,
    sessions: places.sessions.map((session) => session.id),
    places: places.order,
    free: places.free,
    reads: plan.looks.map((look) => look.read),
    quotas: plan.quotas,
  };
}

function answer(results: readonly Results[], accepted: ReadonlySet<string> | null): void {
  for (const { runs, resolve } of results) {
    const own = new Set<string>();
    for (const { id } of runs) if (accepted?.has(id) ?? true) own.add(id);
    resolve({ accepted: own, faults: [] });
  }
}
