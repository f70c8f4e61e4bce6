import { breakerNameIn, type BreakerPolicy, type Completion, type DurationMs, type Instant } from "@carillon/core";
import type { BreakerName, BreakerStore, BreakerView, ClaimedRun, Lane, OpenBreaker, Opening } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import { type Page, type PageRequest, toPage } from "../requests.js";

/** Where the probe, the one run that is let through, comes from; null: no run waits. */
export type ProbeSource = "lane" | "strict" | null;

export type IsBehind = (namespaceId: number, lane: Lane) => boolean;

export interface NodeBreakersOptions {
  readonly store: BreakerStore;
  readonly lane: (id: number) => Lane | null;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly monotonic: () => DurationMs;
  /** Names this node in the rows of breakers for which it lets a probe through. */
  readonly gatewayId: string;
  /** Whether a worker of this node serves a lane behind the breaker. */
  readonly serves: (isBehind: IsBehind) => boolean;
  /** Whether a worker of this node has the run. */
  readonly isAtWork: (runId: string) => boolean;
  /** Lets one run of such lanes through, if one waits; returns where it waits. A run of a strict queue is claimed once its lane is not held any more. */
  readonly letOneThrough: (isBehind: IsBehind) => Promise<ProbeSource>;
  /** The set of open breakers of this node changed. */
  readonly onHeld: () => void;
  /** A row changed: other nodes are to read it. */
  readonly onChanged: () => void;
  readonly onError: (error: unknown) => void;
}

/** The run that an open breaker lets through. */
interface Probe {
  readonly breaker: OpenBreaker;
  /** null until it is claimed. */
  runId: string | null;
  source: ProbeSource;
}

/** A node renews its probe within this time, or another node may let a run through. */
const probeLeaseMs: DurationMs = 15_000;
const minDelayMs: DurationMs = 100;
/** A Retry-After may be wrong, and all runs behind the breaker wait for it. */
const maxRetryAfterMs: DurationMs = 86_400_000;

/**
 * The circuit breakers as this node sees them. Each node counts failures for itself; an open breaker is a row, which every node reads.
 * Gateways do not read a lane behind an open breaker: runs that wait there cost nothing.
 */
export class NodeBreakers {
  readonly #options: NodeBreakersOptions;
  readonly #windows = new Map<string, FailureWindow>();
  readonly #open = new Map<string, OpenBreaker>();
  readonly #probes = new Map<string, Probe>();

  constructor(options: NodeBreakersOptions) {
    this.#options = options;
  }

  /** Whether the lane is behind an open breaker. */
  isHeld(namespaceId: number, lane: Lane): boolean {
    if (this.#open.size === 0 || lane.requires === "") return false;
    const name = breakerNameIn(lane.requires, lane.task);
    return name !== null && this.#open.has(keyOf({ namespaceId, name }));
  }

  /** The same for a strict queue, whose first run is claimed on its own: the lane is open while that run is to be the probe. */
  isHeldStrict(namespaceId: number, lane: Lane): boolean {
    if (!this.isHeld(namespaceId, lane)) return false;
    const name = breakerNameIn(lane.requires, lane.task) ?? "";
    const probe = this.#probes.get(keyOf({ namespaceId, name }));
    return probe === undefined || probe.runId !== null || probe.source !== "strict";
  }

  /** The breaker for which one run of a strict queue's lane may be the probe; null: the lane is held, or behind no open breaker. */
  probeNameOf(namespaceId: number, lane: Lane): string | null {
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

  /** Counts the result of an attempt. Returns after how long the run may be tried again if it must wait for its breaker; else null. */
  judge(run: ClaimedRun, { outcome }: Completion): DurationMs | null {
    const policy = run.policy.breaker;
    const breaker = policy === undefined ? null : this.#breakerOf(run);
    if (policy === undefined || breaker === null) return null;
    if (outcome.kind === "succeeded") this.#addSuccess(run, breaker, policy);
    if (outcome.kind !== "failed" || !outcome.error.retryable) return null;
    this.#addFailure(run, breaker, policy, retryAfterOf(outcome.retryAfterMs));
    const open = this.#open.get(keyOf(breaker));
    if (open === undefined || run.policy.guarantee === "at_most_once") return null;
    return Math.max(minDelayMs, open.probeAt - this.#options.now());
  }

  /** Reads which breakers other nodes opened and closed, renews this node's probes and begins those that are due. */
  async tick(): Promise<void> {
    await this.refresh();
    for (const [key, probe] of this.#probes) await this.#renewProbe(key, probe);
    const now = this.#options.now();
    for (const [key, breaker] of this.#open) {
      const dueAt = breaker.state === "half_open" ? (breaker.probeUntil ?? 0) : breaker.probeAt;
      if (dueAt <= now && !this.#probes.has(key)) await this.#startProbe(key, breaker);
    }
  }

  /** Reads which breakers are open. */
  async refresh(): Promise<void> {
    const found = new Map((await this.#options.store.notClosed()).map((row) => [keyOf(row), row]));
    const hasChanged = found.size !== this.#open.size || [...found.keys()].some((key) => !this.#open.has(key));
    for (const key of this.#open.keys()) {
      if (found.has(key)) continue;
      // Results from before it opened do not count.
      this.#windows.delete(key);
      this.#probes.delete(key);
    }
    this.#open.clear();
    for (const [key, row] of found) this.#open.set(key, row);
    if (hasChanged) this.#options.onHeld();
  }

  #addSuccess(run: ClaimedRun, breaker: BreakerName, policy: BreakerPolicy): void {
    const probe = this.#probes.get(keyOf(breaker));
    if (probe?.runId === run.id) this.#endProbe(probe, true);
    else this.#window(breaker, policy).add(false, this.#options.monotonic());
  }

  #addFailure(
    run: ClaimedRun,
    breaker: BreakerName,
    policy: BreakerPolicy,
    retryAfterMs: DurationMs | undefined,
  ): void {
    const probe = this.#probes.get(keyOf(breaker));
    if (probe?.runId === run.id) return this.#endProbe(probe, false, retryAfterMs);
    const usualMs = policy.openForMs;
    if (retryAfterMs !== undefined) {
      return this.#openBreaker(breaker, { reason: "retry_after", forMs: retryAfterMs, usualMs });
    }
    const window = this.#window(breaker, policy);
    window.add(true, this.#options.monotonic());
    const { calls, failures } = window.counts;
    if (calls < policy.minCalls || failures < policy.failureRatio * calls) return;
    if (!this.#open.has(keyOf(breaker)))
      this.#openBreaker(breaker, { reason: `${failures} of ${calls} failed`, forMs: usualMs, usualMs });
  }

  /** This node follows at once: runs that fail until the row is stored wait too. */
  #openBreaker(breaker: BreakerName, opening: Opening): void {
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

  #endProbe(probe: Probe, closes: boolean, retryAfterMs?: DurationMs): void {
    const { store, gatewayId, now, onHeld, onChanged, onError } = this.#options;
    const { breaker } = probe;
    const openForMs = retryAfterMs ?? breaker.openForMs;
    this.#probes.delete(keyOf(breaker));
    if (closes) this.#open.delete(keyOf(breaker));
    else this.#open.set(keyOf(breaker), { ...breaker, state: "open", probeAt: now() + openForMs, probeUntil: null });
    if (closes) onHeld();
    store.endProbe(breaker, gatewayId, { closes, openForMs }).then(onChanged, onError);
  }

  async #startProbe(key: string, breaker: OpenBreaker): Promise<void> {
    const { store, gatewayId, serves } = this.#options;
    if (!serves(this.#isBehind(breaker)) || !(await store.takeProbe(breaker, gatewayId, probeLeaseMs))) return;
    const probe: Probe = { breaker, runId: null, source: null };
    this.#probes.set(key, probe);
    await this.#letThrough(probe);
  }

  async #letThrough(probe: Probe): Promise<void> {
    const { letOneThrough, onHeld } = this.#options;
    probe.source = await letOneThrough(this.#isBehind(probe.breaker));
    if (probe.source === "strict") onHeld();
  }

  /**
   * Goes on while a worker has the run, or lets one through if none waited so far. A run whose attempt ended without a result for the breaker
   * (its worker was lost, it was cancelled, snoozed or refused) is replaced by another.
   */
  async #renewProbe(key: string, probe: Probe): Promise<void> {
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

/** How long a Retry-After keeps a breaker open; undefined: it names no usable time. */
function retryAfterOf(retryAfterMs: DurationMs | undefined): DurationMs | undefined {
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs) || retryAfterMs <= 0) return undefined;
  return Math.min(retryAfterMs, maxRetryAfterMs);
}

/** A window is counted in this many parts. */
const partCount = 10;

interface Part {
  number: number;
  calls: number;
  failures: number;
}

/** How many calls of a window failed. The window is exact to a tenth of its length. */
class FailureWindow {
  readonly #partMs: DurationMs;
  readonly #parts: Part[] = [];

  constructor(windowMs: DurationMs) {
    this.#partMs = windowMs / partCount;
  }

  add(isFailure: boolean, now: DurationMs): void {
    const number = Math.floor(now / this.#partMs);
    let last = this.#parts.at(-1);
    if (last?.number !== number) this.#parts.push((last = { number, calls: 0, failures: 0 }));
    last.calls++;
    if (isFailure) last.failures++;
    while ((this.#parts[0]?.number ?? number) <= number - partCount) this.#parts.shift();
  }

  get counts(): { calls: number; failures: number } {
    const sum = { calls: 0, failures: 0 };
    for (const { calls, failures } of this.#parts) {
      sum.calls += calls;
      sum.failures += failures;
    }
    return sum;
  }
}

/** Breakers of a namespace that have opened at least once, by name. */
export class Breakers {
  readonly #context: Pick<EngineContext, "store" | "inNamespace" | "wakeups">;
  readonly #nodeBreakers: Pick<NodeBreakers, "refresh">;

  constructor(
    context: Pick<EngineContext, "store" | "inNamespace" | "wakeups">,
    { nodeBreakers }: { readonly nodeBreakers: Pick<NodeBreakers, "refresh"> },
  ) {
    this.#context = context;
    this.#nodeBreakers = nodeBreakers;
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<BreakerView>> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.breakers.page(id, { limit: pageSize + 1, ...(after !== undefined && { after }) });
      return toPage(rows, pageSize, (row) => row.name);
    });
  }

  get(namespace: string, name: string): Promise<BreakerView | null> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (id) => (await store.breakers.page(id, { limit: 1, only: name }))[0] ?? null);
  }

  /** Closes a breaker manually; null when it never opened. This node follows the reset before the caller is answered. */
  reset(namespace: string, name: string): Promise<BreakerView | null> {
    const { inNamespace, store, wakeups } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const reset = await store.breakers.reset({ namespaceId, name });
      if (reset === null) return null;
      wakeups.announce("queues");
      await afterCommit(() => this.#nodeBreakers.refresh());
      return reset;
    });
  }
}
