import { type DurationMs, type Instant, type StopOrder, timeoutOf } from "@carillon/core";
import type { ClaimedRun } from "@carillon/store";
import { ClaimDoubt } from "./unconfirmed-claims.js";

export interface SessionEvents {
  /** Runs for the worker; it holds them until it reports them or gives them back. */
  readonly deliver: (runs: readonly ClaimedRun[]) => void;
  /** Runs that the worker holds are to stop; told again and again until they have ended. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  /** The session was declared dead: whatever its worker does is somebody else's. */
  readonly onLost: () => void;
  readonly isHeard: () => boolean;
  /** An operator wants its worker to end; or it is to go at once, since its machine does. */
  readonly onDrain: (isNotice: boolean) => void;
}

/** Who asks for places: workers that take runs of one weight. */
export interface Claimant {
  /** How many slots a run takes. */
  readonly weight: number;
}

export interface SessionOptions extends SessionEvents {
  readonly id: string;
  readonly namespaceId: number;
  readonly slots: number;
  /** Runs that may wait at the worker beyond its slots; null: as many as it does in a twentieth of a second. */
  readonly ahead: number | null;
  /** It takes runs whenever it has room, and not only while it polls. */
  readonly isSteady?: boolean;
  /** How many slots a run takes; left out: every run takes one. */
  readonly weightOf?: (run: ClaimedRun) => number;
  readonly doubtMs: DurationMs;
}

const mostOnce = 1_000;
const mostAhead = 1_000;
const aheadSeconds = 0.05;
/** Rates are averaged over about this time. */
const memoryMs = 200;

/** A worker as the gateway sees it: what it holds, what more it can take. */
export class WorkerSession {
  readonly id: string;
  /** To which its worker belongs. */
  readonly namespaceId: number;
  readonly slots: number;
  readonly isSteady: boolean;
  readonly events: SessionEvents;
  readonly doubt: ClaimDoubt;
  readonly held = new Map<string, ClaimedRun>();
  /** Since when, by this node's monotonic clock, held runs are at work. Kept only of runs whose time is limited. */
  readonly #begun = new Map<ClaimedRun, DurationMs>();
  /** Held runs whose time is limited and that are not known to be at work; since when they are looked at, null: not yet. */
  readonly #unbegun = new Map<ClaimedRun, DurationMs | null>();
  /** Held runs that have a deadline. */
  readonly #limited = new Set<ClaimedRun>();
  /** Namespaces of runs that have begun something that is done once; it may end after its run. */
  readonly #onceIn = new Map<string, number>();
  /** It takes runs now. */
  isWaiting = false;
  /** An operator wants it to be given nothing more. */
  isCordoned = false;
  /** How often an operator asked something of it at this node. */
  asked = 0;
  #isAsked = false;
  /** How often it was asked what it holds. */
  questions = 0;
  /** What it held when this node took it over, and when that was: the node before it may have ended some of it since. */
  takenOver: { readonly runs: readonly ClaimedRun[]; readonly at: DurationMs } | null = null;
  /** Slots of held runs whose result is on its way to the store. */
  ending = 0;
  /** Slots for which a claim is under way. */
  promised = 0;
  /** Its slots are kept for these heavy runs as they become free: lighter ones would take them one by one. */
  savedFor: Claimant | null = null;
  /** Slots that held runs take beyond one each. */
  #extra = 0;
  readonly #weightOf: ((run: ClaimedRun) => number) | null;
  readonly #ahead: number | null;
  #lost: ClaimedRun | null = null;
  #perSecond = 0;
  #countedAt: DurationMs = 0;
  #onQuiet: (() => void)[] = [];

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.namespaceId = options.namespaceId;
    this.slots = options.slots;
    this.isSteady = options.isSteady ?? false;
    this.events = options;
    this.#ahead = options.ahead;
    this.#weightOf = options.weightOf ?? null;
    this.doubt = new ClaimDoubt(options.doubtMs);
  }

  /** It is asked what it holds: until that is answered it gets nothing. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  set isAsked(isAsked: boolean) {
    if (isAsked) this.questions++;
    this.#isAsked = isAsked;
  }

  /** It takes runs, if it has room. */
  get isOpen(): boolean {
    return this.isWaiting && !this.#isAsked && !this.isCordoned;
  }

  /** Slots for which nobody works or is on the way. */
  get freeSlots(): number {
    return this.isOpen ? Math.max(0, this.slots - this.#occupied) : 0;
  }

  /** Slots for which somebody works or is on the way. */
  get usedSlots(): number {
    return Math.min(this.slots, this.#occupied);
  }

  /** Slots of held runs that take more than one. */
  get heavySlots(): number {
    if (this.#weightOf === null) return 0;
    const weights = [...this.held.values()].map(this.#weightOf);
    return weights.reduce((sum, weight) => (weight > 1 ? sum + weight : sum), 0);
  }

  /** Runs for which there are free slots. */
  freeFor(claimant: Claimant): number {
    if (this.savedFor !== null && this.savedFor !== claimant) return 0;
    return Math.floor(this.freeSlots / claimant.weight);
  }

  /** Runs for which there are slots in which nobody works. Claims under way may bring runs for them too: then one waits for the next slot. */
  unusedFor(claimant: Claimant): number {
    if (!this.isOpen || (this.savedFor !== null && this.savedFor !== claimant)) return 0;
    return Math.floor(Math.max(0, this.slots - this.#occupied + this.promised) / claimant.weight);
  }

  /** Runs for which there are free slots, or that may be given ahead. Heavy runs are not. */
  roomFor(claimant: Claimant): number {
    if (claimant.weight > 1) return this.freeFor(claimant);
    if (!this.isOpen || (this.savedFor !== null && this.savedFor !== claimant)) return 0;
    return Math.max(0, this.slots + this.#aheadNow - this.#occupied);
  }

  /** Slots that these runs take. */
  weigh(runs: readonly ClaimedRun[]): number {
    const weightOf = this.#weightOf;
    return weightOf === null ? runs.length : runs.reduce((sum, run) => sum + weightOf(run), 0);
  }

  /** It holds a run that lost a worker before. */
  get hasLost(): boolean {
    return this.#lost !== null && this.held.get(this.#lost.id) === this.#lost;
  }

  /** Whose a run is that it holds, or that began something to be done once. */
  namespaceOf(runId: string): number {
    return this.held.get(runId)?.namespaceId ?? this.#onceIn.get(runId) ?? this.namespaceId;
  }

  beginOnce(runId: string): void {
    this.#onceIn.set(runId, this.namespaceOf(runId));
    for (const oldest of this.#onceIn.keys()) {
      if (this.#onceIn.size <= mostOnce) break;
      this.#onceIn.delete(oldest);
    }
  }

  /** It holds this, by a claim of another gateway. */
  know(run: ClaimedRun): void {
    this.#hold(run);
  }

  take(runs: readonly ClaimedRun[], isLost: (run: ClaimedRun) => boolean): void {
    const fresh = runs.filter((run) => this.#hold(run));
    for (const run of fresh) if (isLost(run)) this.#lost = run;
    if (fresh.length > 0) this.events.deliver(fresh);
  }

  /** The worker has this run no longer. */
  letGo(run: ClaimedRun): void {
    if (this.held.get(run.id) !== run) return;
    this.held.delete(run.id);
    this.#extra -= this.#extraOf(run);
  }

  /** The worker says that it began a run at this time. */
  begin(run: ClaimedRun, at: DurationMs): void {
    if (timeoutOf(run.policy) === null) return;
    this.#unbegun.delete(run);
    if (!this.#begun.has(run)) this.#begun.set(run, at);
  }

  /** Held runs that are at work for longer than they may be, each with when it began. */
  overdue(now: DurationMs, graceMs: DurationMs): [run: ClaimedRun, begunAt: DurationMs][] {
    const late: [ClaimedRun, DurationMs][] = [];
    for (const [run, begunAt] of this.#begun) {
      if (this.held.get(run.id) !== run) this.#begun.delete(run);
      else if (now > begunAt + (timeoutOf(run.policy) ?? Number.POSITIVE_INFINITY) + graceMs) late.push([run, begunAt]);
    }
    return late;
  }

  /** Held runs of whose begin nothing was heard for longer than they may take. Those that are known to be begun count from now. */
  unbegun(now: DurationMs, graceMs: DurationMs, isBegun: (run: ClaimedRun) => boolean): ClaimedRun[] {
    const late: ClaimedRun[] = [];
    for (const [run, since] of this.#unbegun) {
      if (this.held.get(run.id) !== run) this.#unbegun.delete(run);
      else if (isBegun(run)) this.begin(run, now);
      else if (since === null) this.#unbegun.set(run, now);
      else if (now > since + (timeoutOf(run.policy) ?? Number.POSITIVE_INFINITY) + graceMs) late.push(run);
    }
    return late;
  }

  /** Held runs whose deadline has passed. */
  expired(now: Instant): ClaimedRun[] {
    const late: ClaimedRun[] = [];
    for (const run of this.#limited) {
      if (this.held.get(run.id) !== run) this.#limited.delete(run);
      else if (run.deadline !== null && now >= run.deadline) late.push(run);
    }
    return late;
  }

  /** Results came in: how many a worker brings says how many it may be given ahead. */
  count(results: number, now: DurationMs): void {
    const sinceMs = Math.max(now - this.#countedAt, 1);
    const weight = Math.min(1, sinceMs / memoryMs);
    this.#perSecond += weight * ((results * 1_000) / sinceMs - this.#perSecond);
    this.#countedAt = now;
  }

  promise(claimant: Claimant): void {
    this.promised += claimant.weight;
    if (this.savedFor === claimant) this.savedFor = null;
  }

  settle(claimant: Claimant): void {
    this.promised -= claimant.weight;
    if (this.promised === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
  }

  /** Resolves when no claim for it is under way. */
  async quiet(): Promise<void> {
    if (this.promised > 0) await new Promise<void>((resolve) => this.#onQuiet.push(resolve));
  }

  /** Answers false if it holds the run already, by the same claim. */
  #hold(run: ClaimedRun): boolean {
    const before = this.held.get(run.id);
    if (before?.fence === run.fence) return false;
    if (before !== undefined) this.letGo(before);
    this.held.set(run.id, run);
    this.#extra += this.#extraOf(run);
    if (run.deadline !== null) this.#limited.add(run);
    if (timeoutOf(run.policy) !== null) this.#unbegun.set(run, null);
    return true;
  }

  get #occupied(): number {
    return this.held.size + this.#extra - this.ending + this.promised;
  }

  #extraOf(run: ClaimedRun): number {
    return this.#weightOf === null ? 0 : this.#weightOf(run) - 1;
  }

  get #aheadNow(): number {
    return this.#ahead ?? Math.min(mostAhead, Math.floor(this.#perSecond * aheadSeconds));
  }
}
