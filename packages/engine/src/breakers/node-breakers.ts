import { type BreakerPolicy, breakerNameIn, type Completion, type DurationMs, type Instant } from "@carillon/core";
import type { BreakerName, BreakerStore, ClaimedRun, Lane, OpenBreaker, Opening } from "@carillon/store";
import { FailureWindow } from "./failure-window.js";

/** Where a run that is to be tried comes from; null: none waits. */
export type Way = "lane" | "strict" | null;

export type IsBehind = (namespaceId: number, lane: Lane) => boolean;

export interface NodeBreakersOptions {
  readonly store: BreakerStore;
  readonly lane: (id: number) => Lane | null;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly monotonic: () => DurationMs;
  /** Names this node in the rows of breakers for which it tries a run. */
  readonly gatewayId: string;
  /** Whether somebody here serves a lane behind the breaker. */
  readonly serves: (isBehind: IsBehind) => boolean;
  /** Whether a worker of this node has the run. */
  readonly isAtWork: (runId: string) => boolean;
  /** Lets one run of such lanes through, if one waits; answers where. One of a strict queue comes when it is not held any more. */
  readonly letOneThrough: (isBehind: IsBehind) => Promise<Way>;
  /** What is open has changed here. */
  readonly onHeld: () => void;
  /** Others are to know. */
  readonly onChanged: () => void;
  readonly onError: (error: unknown) => void;
}

/** A run that is tried; null until it is claimed. */
interface Probe {
  readonly breaker: OpenBreaker;
  runId: string | null;
  way: Way;
}

/** Who tries a run says so again within this time, or another may. */
const probeLeaseMs: DurationMs = 15_000;
const leastDelayMs: DurationMs = 100;
/** A Retry-After may be wrong, and all that share the breaker wait for it. */
const longestAskedMs: DurationMs = 86_400_000;

/**
 * The circuit breakers as this node sees them. Failures are counted here; that one is open is a row, which every node reads. A
 * lane behind an open breaker is not looked at: what waits there costs nothing.
 */
export class NodeBreakers {
  readonly #options: NodeBreakersOptions;
  readonly #windows = new Map<string, FailureWindow>();
  readonly #open = new Map<string, OpenBreaker>();
  readonly #probes = new Map<string, Probe>();

  constructor(options: NodeBreakersOptions) {
    this.#options = options;
  }

  /** Whether runs of the lane are to stay where they are. */
  isHeld(namespaceId: number, lane: Lane): boolean {
    if (this.#open.size === 0 || lane.requires === "") return false;
    const name = breakerNameIn(lane.requires, lane.task);
    return name !== null && this.#open.has(keyOf({ namespaceId, name }));
  }

  /** The same of a strict queue, whose first run is claimed by itself: it is let through if it is the one to be tried. */
  isHeldStrict(namespaceId: number, lane: Lane): boolean {
    if (!this.isHeld(namespaceId, lane)) return false;
    const name = breakerNameIn(lane.requires, lane.task) ?? "";
    const probe = this.#probes.get(keyOf({ namespaceId, name }));
    return probe === undefined || probe.runId !== null || probe.way !== "strict";
  }

  /** The breaker for which one run of a strict queue's lane may be tried; null: the lane is held, or open as any other. */
  trialOf(namespaceId: number, lane: Lane): string | null {
    if (!this.isHeld(namespaceId, lane) || this.isHeldStrict(namespaceId, lane)) return null;
    return breakerNameIn(lane.requires, lane.task);
  }

  claimed(runs: readonly ClaimedRun[]): void {
    if (this.#probes.size === 0) return;
    for (const run of runs) {
      const breaker = this.#breakerOf(run);
      const probe = breaker && this.#probes.get(keyOf(breaker));
      if (probe?.runId === null) probe.runId = run.id;
    }
  }

  /** An attempt is over. Answers after how long the run may be tried again if it is to wait for its breaker; else null. */
  judge(run: ClaimedRun, { outcome }: Completion): DurationMs | null {
    const policy = run.policy.breaker;
    const breaker = policy === undefined ? null : this.#breakerOf(run);
    if (policy === undefined || breaker === null) return null;
    if (outcome.kind === "succeeded") this.#succeeded(run, breaker, policy);
    if (outcome.kind !== "failed" || !outcome.error.retryable) return null;
    this.#failed(run, breaker, policy, askedWait(outcome.retryAfterMs));
    const open = this.#open.get(keyOf(breaker));
    if (open === undefined || run.policy.guarantee === "at_most_once") return null;
    return Math.max(leastDelayMs, open.probeAt - this.#options.now());
  }

  /** One look at what others opened and closed, and at what is to be tried. */
  async tick(): Promise<void> {
    await this.look();
    for (const [key, probe] of this.#probes) await this.#keep(key, probe);
    const now = this.#options.now();
    for (const [key, breaker] of this.#open) {
      const dueAt = breaker.state === "half_open" ? (breaker.probeUntil ?? 0) : breaker.probeAt;
      if (dueAt <= now && !this.#probes.has(key)) await this.#try(key, breaker);
    }
  }

  async look(): Promise<void> {
    const found = new Map((await this.#options.store.notClosed()).map((row) => [keyOf(row), row]));
    const isOther = found.size !== this.#open.size || [...found.keys()].some((key) => !this.#open.has(key));
    for (const key of this.#open.keys()) {
      if (found.has(key)) continue;
      // What was counted before it opened says nothing of now.
      this.#windows.delete(key);
      this.#probes.delete(key);
    }
    this.#open.clear();
    for (const [key, row] of found) this.#open.set(key, row);
    if (isOther) this.#options.onHeld();
  }

  #succeeded(run: ClaimedRun, breaker: BreakerName, policy: BreakerPolicy): void {
    const probe = this.#probes.get(keyOf(breaker));
    if (probe?.runId === run.id) this.#end(probe, true);
    else this.#window(breaker, policy).add(false, this.#options.monotonic());
  }

  #failed(run: ClaimedRun, breaker: BreakerName, policy: BreakerPolicy, retryAfterMs: DurationMs | undefined): void {
    const probe = this.#probes.get(keyOf(breaker));
    if (probe?.runId === run.id) return this.#end(probe, false, retryAfterMs);
    const usualMs = policy.openForMs;
    if (retryAfterMs !== undefined) {
      return this.#opens(breaker, { reason: "retry_after", forMs: retryAfterMs, usualMs });
    }
    const window = this.#window(breaker, policy);
    window.add(true, this.#options.monotonic());
    const { calls, failures } = window.counts;
    if (calls < policy.minCalls || failures < policy.failureRatio * calls) return;
    if (!this.#open.has(keyOf(breaker)))
      this.#opens(breaker, { reason: `${failures} of ${calls} failed`, forMs: usualMs, usualMs });
  }

  /** At once here: what comes back meanwhile waits too. */
  #opens(breaker: BreakerName, opening: Opening): void {
    const { now, store, onHeld, onChanged, onError } = this.#options;
    const probeAt = now() + opening.forMs;
    const before = this.#open.get(keyOf(breaker));
    if (before !== undefined && before.probeAt >= probeAt) return;
    const { namespaceId, name } = breaker;
    const open = { namespaceId, name, probeAt, openForMs: opening.usualMs, probeUntil: null };
    this.#open.set(keyOf(breaker), { ...open, state: "open" });
    this.#windows.delete(keyOf(breaker));
    onHeld();
    store.open(breaker, opening).then(onChanged, onError);
  }

  #end(probe: Probe, closes: boolean, retryAfterMs?: DurationMs): void {
    const { store, gatewayId, now, onHeld, onChanged, onError } = this.#options;
    const { breaker } = probe;
    const openForMs = retryAfterMs ?? breaker.openForMs;
    this.#probes.delete(keyOf(breaker));
    if (closes) this.#open.delete(keyOf(breaker));
    else this.#open.set(keyOf(breaker), { ...breaker, state: "open", probeAt: now() + openForMs, probeUntil: null });
    if (closes) onHeld();
    store.endProbe(breaker, gatewayId, { closes, openForMs }).then(onChanged, onError);
  }

  async #try(key: string, breaker: OpenBreaker): Promise<void> {
    const { store, gatewayId, serves } = this.#options;
    if (!serves(this.#isBehind(breaker)) || !(await store.takeProbe(breaker, gatewayId, probeLeaseMs))) return;
    const probe: Probe = { breaker, runId: null, way: null };
    this.#probes.set(key, probe);
    await this.#letThrough(probe);
  }

  async #letThrough(probe: Probe): Promise<void> {
    const { letOneThrough, onHeld } = this.#options;
    probe.way = await letOneThrough(this.#isBehind(probe.breaker));
    if (probe.way === "strict") onHeld();
  }

  /**
   * The run is at work; or none waited so far, and they are looked at again. A run that came back and says nothing of the
   * breaker (its worker was lost, it was cancelled, snoozed or refused) leaves its place to another.
   */
  async #keep(key: string, probe: Probe): Promise<void> {
    const { store, gatewayId, isAtWork } = this.#options;
    const { breaker } = probe;
    if (probe.runId !== null && !isAtWork(probe.runId)) probe.runId = null;
    if (!(await store.keepProbe(breaker, gatewayId, probeLeaseMs))) this.#probes.delete(key);
    else if (probe.runId === null) await this.#letThrough(probe);
  }

  #isBehind(breaker: BreakerName): IsBehind {
    return (namespaceId, lane) =>
      namespaceId === breaker.namespaceId && breakerNameIn(lane.requires, lane.task) === breaker.name;
  }

  #breakerOf({ namespaceId, lane: laneId, policy }: ClaimedRun): BreakerName | null {
    const lane = policy.breaker === undefined ? null : this.#options.lane(laneId);
    const name = lane && breakerNameIn(lane.requires, lane.task);
    return name === null ? null : { namespaceId, name };
  }

  #window(breaker: BreakerName, { windowMs }: BreakerPolicy): FailureWindow {
    const key = keyOf(breaker);
    let window = this.#windows.get(key);
    if (window === undefined) this.#windows.set(key, (window = new FailureWindow(windowMs)));
    return window;
  }
}

const keyOf = ({ namespaceId, name }: BreakerName): string => `${namespaceId} ${name}`;

/** How long a Retry-After keeps a breaker open; undefined: it asks for no time. */
function askedWait(retryAfterMs: DurationMs | undefined): DurationMs | undefined {
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs) || retryAfterMs <= 0) return undefined;
  return Math.min(retryAfterMs, longestAskedMs);
}
