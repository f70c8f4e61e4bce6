import { CarillonError, type DurationMs, type Instant, type StopOrder, timeoutOf } from "@carillon/core";
import type { ClaimedRun } from "@carillon/store";

/** The server no longer knows the session: other workers get the runs that its worker still executes. */
export class SessionLost extends CarillonError {
  constructor(id: string) {
    super("session_lost", `The worker session ${id} was declared dead or closed.`);
  }
}

export interface SessionEvents {
  /** Assigns runs to the worker, which holds them until it reports them or gives them back. */
  readonly deliver: (runs: readonly ClaimedRun[]) => void;
  /** Orders the worker to stop runs that it holds, repeatedly until they have ended. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  /** The session was declared dead: other workers get its runs. */
  readonly onLost: () => void;
  readonly isConnected: () => boolean;
  /** An operator asks the worker to end; with a notice: at once, because its machine goes away. */
  readonly onDrain: (isNotice: boolean) => void;
}

/** A group of workers that claims runs of one weight. */
export interface Claimant {
  /** How many slots a run takes. */
  readonly weight: number;
}

export interface SessionOptions extends SessionEvents {
  readonly id: string;
  readonly namespaceId: number;
  readonly slots: number;
  /** How many runs may wait at the worker beyond its slots; null: as many as it finishes in a twentieth of a second. */
  readonly ahead: number | null;
  /** The worker lives in this process: it takes runs whenever it has room, and not only while it polls. */
  readonly isInProcess?: boolean;
  /** How many slots a run takes; left out: every run takes one. */
  readonly weightOf?: (run: ClaimedRun) => number;
  readonly unconfirmedMs: DurationMs;
}

const maxOnceRuns = 1_000;
const maxAhead = 1_000;
const aheadSeconds = 0.05;
/** Rates are averaged over about this time. */
const rateWindowMs = 200;
const checkEveryMs: DurationMs = 1_000;

/** A worker as the gateway sees it: the runs that it holds, and how many more it can take. */
export class WorkerSession {
  readonly id: string;
  /** The namespace that its worker belongs to. */
  readonly namespaceId: number;
  readonly slots: number;
  readonly isInProcess: boolean;
  readonly events: SessionEvents;
  readonly unconfirmed: UnconfirmedClaims;
  readonly held = new Map<string, ClaimedRun>();
  /** When held runs were started, by this node's monotonic clock. Kept only for runs that have a timeout. */
  readonly #started = new Map<ClaimedRun, DurationMs>();
  /** Held runs with a timeout that are not known to be started; since when they are watched, null: not yet. */
  readonly #unstarted = new Map<ClaimedRun, DurationMs | null>();
  /** Held runs that have a deadline. */
  readonly #withDeadline = new Set<ClaimedRun>();
  /** Namespaces of runs that began a once block, which may end after its run. */
  readonly #onceIn = new Map<string, number>();
  /** The worker takes runs now. */
  isWaiting = false;
  /** An operator asked that the worker is assigned nothing more. */
  isCordoned = false;
  /** How often an operator changed the state of the worker at this node. */
  stateRequests = 0;
  #isBeingVerified = false;
  /** How often the runs that the session holds were read from the database. */
  verifications = 0;
  /** The runs that the session held when this node took it over, and when: the node before may have ended some of them since. */
  takenOver: { readonly runs: readonly ClaimedRun[]; readonly at: DurationMs } | null = null;
  /** Slots of held runs whose result is being stored. */
  endingSlots = 0;
  /** Slots for which a claim is under way. */
  claimingSlots = 0;
  /** Free slots are kept for this claimant's heavy runs: lighter runs would take them one by one. */
  reservedFor: Claimant | null = null;
  /** Slots that held runs take beyond one each. */
  #extra = 0;
  readonly #weightOf: ((run: ClaimedRun) => number) | null;
  readonly #ahead: number | null;
  #lostRun: ClaimedRun | null = null;
  #perSecond = 0;
  #countedAt: DurationMs = 0;
  #onClaimsEnded: (() => void)[] = [];

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.namespaceId = options.namespaceId;
    this.slots = options.slots;
    this.isInProcess = options.isInProcess ?? false;
    this.events = options;
    this.#ahead = options.ahead;
    this.#weightOf = options.weightOf ?? null;
    this.unconfirmed = new UnconfirmedClaims(options.unconfirmedMs);
  }

  /** The database is being asked for the runs that the session holds: until it has answered, the worker is assigned nothing. */
  get isBeingVerified(): boolean {
    return this.#isBeingVerified;
  }

  set isBeingVerified(isBeingVerified: boolean) {
    if (isBeingVerified) this.verifications++;
    this.#isBeingVerified = isBeingVerified;
  }

  /** The worker takes runs, if it has room. */
  get isOpen(): boolean {
    return this.isWaiting && !this.#isBeingVerified && !this.isCordoned;
  }

  /** Slots without a run, and for which no claim is under way. */
  get freeSlots(): number {
    return this.isOpen ? Math.max(0, this.slots - this.#occupied) : 0;
  }

  /** Slots with a run, or for which a claim is under way. */
  get usedSlots(): number {
    return Math.min(this.slots, this.#occupied);
  }

  /** Slots of held runs that take more than one. */
  get heavySlots(): number {
    if (this.#weightOf === null) return 0;
    const weights = [...this.held.values()].map(this.#weightOf);
    return weights.reduce((sum, weight) => (weight > 1 ? sum + weight : sum), 0);
  }

  /** The number of runs for which there are free slots. */
  freeFor(claimant: Claimant): number {
    if (this.reservedFor !== null && this.reservedFor !== claimant) return 0;
    return Math.floor(this.freeSlots / claimant.weight);
  }

  /** The number of runs for which there are slots without a run. A claim under way may bring runs for them too: then one waits for the next slot. */
  idleFor(claimant: Claimant): number {
    if (!this.isOpen || (this.reservedFor !== null && this.reservedFor !== claimant)) return 0;
    return Math.floor(Math.max(0, this.slots - this.#occupied + this.claimingSlots) / claimant.weight);
  }

  /** The number of runs for which there are free slots, or that may wait at the worker. Heavy runs may not. */
  roomFor(claimant: Claimant): number {
    if (claimant.weight > 1) return this.freeFor(claimant);
    if (!this.isOpen || (this.reservedFor !== null && this.reservedFor !== claimant)) return 0;
    return Math.max(0, this.slots + this.#aheadNow - this.#occupied);
  }

  /** The slots that these runs take. */
  slotsOf(runs: readonly ClaimedRun[]): number {
    const weightOf = this.#weightOf;
    return weightOf === null ? runs.length : runs.reduce((sum, run) => sum + weightOf(run), 0);
  }

  /** The session holds a run that lost a worker before. */
  get hasLostRun(): boolean {
    return this.#lostRun !== null && this.held.get(this.#lostRun.id) === this.#lostRun;
  }

  /** The namespace of a run that the session holds, or that began a once block. */
  namespaceOf(runId: string): number {
    return this.held.get(runId)?.namespaceId ?? this.#onceIn.get(runId) ?? this.namespaceId;
  }

  beginOnce(runId: string): void {
    this.#onceIn.set(runId, this.namespaceOf(runId));
    for (const oldest of this.#onceIn.keys()) {
      if (this.#onceIn.size <= maxOnceRuns) break;
      this.#onceIn.delete(oldest);
    }
  }

  assign(runs: readonly ClaimedRun[], isLost: (run: ClaimedRun) => boolean): void {
    const fresh = runs.filter((run) => this.hold(run));
    for (const run of fresh) if (isLost(run)) this.#lostRun = run;
    if (fresh.length > 0) this.events.deliver(fresh);
  }

  /** Counts a run as held without delivering it. Returns false if the session holds it already, under the same claim. */
  hold(run: ClaimedRun): boolean {
    const before = this.held.get(run.id);
    if (before?.fence === run.fence) return false;
    if (before !== undefined) this.release(before);
    this.held.set(run.id, run);
    this.#extra += this.#extraOf(run);
    if (run.deadline !== null) this.#withDeadline.add(run);
    if (timeoutOf(run.policy) !== null) this.#unstarted.set(run, null);
    return true;
  }

  /** The worker no longer has this run. */
  release(run: ClaimedRun): void {
    if (this.held.get(run.id) !== run) return;
    this.held.delete(run.id);
    this.#extra -= this.#extraOf(run);
  }

  /** The worker started a run at this time. */
  started(run: ClaimedRun, at: DurationMs): void {
    if (timeoutOf(run.policy) === null) return;
    this.#unstarted.delete(run);
    if (!this.#started.has(run)) this.#started.set(run, at);
  }

  /** Held runs that have been executed for longer than their timeout and the grace time, each with when it started. */
  overdue(now: DurationMs, graceMs: DurationMs): [run: ClaimedRun, startedAt: DurationMs][] {
    const late: [ClaimedRun, DurationMs][] = [];
    for (const [run, startedAt] of this.#started) {
      if (this.held.get(run.id) !== run) this.#started.delete(run);
      else if (now > startedAt + (timeoutOf(run.policy) ?? Number.POSITIVE_INFINITY) + graceMs)
        late.push([run, startedAt]);
    }
    return late;
  }

  /** Held runs whose worker has not reported a start within their timeout and the grace time. Runs that `isStarted` knows count as started now. */
  unstarted(now: DurationMs, graceMs: DurationMs, isStarted: (run: ClaimedRun) => boolean): ClaimedRun[] {
    const late: ClaimedRun[] = [];
    for (const [run, since] of this.#unstarted) {
      if (this.held.get(run.id) !== run) this.#unstarted.delete(run);
      else if (isStarted(run)) this.started(run, now);
      else if (since === null) this.#unstarted.set(run, now);
      else if (now > since + (timeoutOf(run.policy) ?? Number.POSITIVE_INFINITY) + graceMs) late.push(run);
    }
    return late;
  }

  /** Held runs whose deadline has passed. */
  expired(now: Instant): ClaimedRun[] {
    const late: ClaimedRun[] = [];
    for (const run of this.#withDeadline) {
      if (this.held.get(run.id) !== run) this.#withDeadline.delete(run);
      else if (run.deadline !== null && now >= run.deadline) late.push(run);
    }
    return late;
  }

  /** Results arrived: their rate decides how many runs may wait at the worker. */
  countResults(results: number, now: DurationMs): void {
    const sinceMs = Math.max(now - this.#countedAt, 1);
    const weight = Math.min(1, sinceMs / rateWindowMs);
    this.#perSecond += weight * ((results * 1_000) / sinceMs - this.#perSecond);
    this.#countedAt = now;
  }

  beginClaim(claimant: Claimant): void {
    this.claimingSlots += claimant.weight;
    if (this.reservedFor === claimant) this.reservedFor = null;
  }

  endClaim(claimant: Claimant): void {
    this.claimingSlots -= claimant.weight;
    if (this.claimingSlots === 0) for (const resolve of this.#onClaimsEnded.splice(0)) resolve();
  }

  /** Resolves when no claim for the session is under way. */
  async untilNoClaims(): Promise<void> {
    if (this.claimingSlots > 0) await new Promise<void>((resolve) => this.#onClaimsEnded.push(resolve));
  }

  get #occupied(): number {
    return this.held.size + this.#extra - this.endingSlots + this.claimingSlots;
  }

  #extraOf(run: ClaimedRun): number {
    return this.#weightOf === null ? 0 : this.#weightOf(run) - 1;
  }

  get #aheadNow(): number {
    return this.#ahead ?? Math.min(maxAhead, Math.floor(this.#perSecond * aheadSeconds));
  }
}

/**
 * A claim that failed may have been committed all the same, or may still be executed by the database: its session then holds runs that no
 * worker knows of. For as long as that is possible, the gateway checks which runs the session holds.
 */
class UnconfirmedClaims {
  readonly #lastsMs: DurationMs;
  #until: Instant = Number.NEGATIVE_INFINITY;
  #checkAt: Instant = 0;
  /** When the database last answered which runs the session holds. */
  checkedAt: Instant = Number.NEGATIVE_INFINITY;

  constructor(lastsMs: DurationMs) {
    this.#lastsMs = lastsMs;
  }

  /** A claim failed. */
  begin(now: Instant): void {
    this.#until = now + this.#lastsMs;
    this.#checkAt = now;
  }

  isCheckDue(now: Instant): boolean {
    return this.#checkAt <= this.#until && now >= this.#checkAt;
  }

  checked(now: Instant): void {
    this.checkedAt = now;
    this.#checkAt = now + checkEveryMs;
  }
}
