import type { DurationMs, Instant } from "@carillon/core";
import { freedBy, freedJobs, type LimitRow } from "@carillon/store";
import type { LimitOwnerCache } from "../catalog/catalog.js";
import type { EngineContext } from "../context.js";
import { SteadyCost } from "../loops/loops.js";
import { announceEnded } from "../runs/run-events.js";
import { type AdmissionRequest, admit, type Admitted, countHolders } from "./admission.js";
import { Intake, LimitedLanes } from "./intake.js";
import { isOrdered } from "./limit-text.js";

type AdmitterContext = Pick<
  EngineContext,
  "store" | "clock" | "now" | "membership" | "shardCount" | "emit" | "loops" | "wakeups"
>;

/** The limits and gates of runs that ended or started. */
interface Refill {
  readonly limitIds: readonly number[];
  readonly gates: readonly string[];
  readonly released: readonly string[];
}

const periodMs: DurationMs = 1_000;
/** The least time between two sweeps, however often one is requested. */
const soonMs: DurationMs = 50;
/** A sweep takes at most a twentieth of the time. */
const share = 20;
/** Gates of one transaction; of each it reads many runs. */
const batch = 50;
/** Runs that ended, and with them ordering keys whose next run one transaction admits: of each it reads one run. */
const maxReleased = 500;
/** Gates that one sweep reads; the next continues where it ended. */
const maxSwept = 1_000;
/** Gates waiting for one limit that are tried when it is released. */
const maxTried = 64;
/** Limits for which no run waits are checked this often, to release those that no live run holds. */
const unsweptMs: DurationMs = 10_000;
/** A limit that no run has used for this long is deleted. */
const forgetMs: DurationMs = 3_600_000;

/**
 * Admits runs with limits: when one is queued, when one that held a limit ends, when a rate has room again, and by a sweep of all waiting
 * runs every second, which also finds those of a node that died before it admitted them.
 */
export class LimitAdmitter {
  readonly #context: AdmitterContext;
  readonly #lanes: LimitedLanes;
  readonly #intake: Intake;
  readonly #gates = new Set<string>();
  readonly #released = new Set<string>();
  readonly #started = new Set<string>();
  /** Limits whose holders are all to be checked. */
  readonly #unswept = new Set<number>();
  /** Gates whose limits are all to be checked. */
  readonly #swept = new Set<string>();
  readonly #waiting = new WaitingGates();
  /** Limits that have no room until their holders are counted. */
  readonly #uncounted = new Map<number, LimitRow>();
  /** Gates that get room at an instant. */
  readonly #timed = new Map<string, Instant>();
  readonly #cost = new SteadyCost();
  #isIntakeDue = true;
  #nextSweep = 0;
  #earliestSweep = 0;
  #nextTidy = 0;
  #after = "";

  constructor(context: AdmitterContext, { limitOwners }: { readonly limitOwners: Pick<LimitOwnerCache, "all"> }) {
    this.#context = context;
    this.#lanes = new LimitedLanes(context, limitOwners);
    this.#intake = new Intake(context.store);
    const { loops, wakeups } = context;
    loops.register("limits", async () => {
      await this.tick();
      return this.#idleMs;
    });
    wakeups.limitLanes({
      isLimited: (lanes) => this.#lanes.statesOf(lanes).size > 0,
      runsQueued: (lanes) => this.#runsQueued(lanes),
    });
    wakeups.on("limits.changed", () => {
      this.#sweepSoon();
      loops.wake("limits");
    });
    // Rates count from the start of an admitted run.
    wakeups.on("limits.claimed", (runIds) => {
      for (const id of runIds) this.#started.add(id);
      loops.wake("limits");
    });
    wakeups.on("limits.released", (runIds) => {
      for (const id of runIds) this.#released.add(id);
      loops.wake("limits");
    });
  }

  /** Returns whether some of the lanes may have limits. */
  #runsQueued(lanes: readonly number[]): boolean {
    const states = this.#lanes.statesOf(lanes);
    if (states.size === 0) return false;
    if (states.has("new")) this.#isIntakeDue = true;
    if (states.has("blocked")) this.#sweepSoon();
    this.#context.loops.wake("limits");
    return true;
  }

  #sweepSoon(): void {
    this.#isIntakeDue = true;
    this.#nextSweep = Math.min(this.#nextSweep, this.#earliestSweep);
  }

  /** One bounded pass; returns how many runs were admitted. */
  async tick(): Promise<number> {
    const { clock } = this.#context;
    const started = clock.monotonic();
    if (started >= this.#nextSweep) {
      this.#nextSweep = started + periodMs;
      await this.#sweep();
      const costMs = this.#cost.after(clock.monotonic() - started);
      this.#earliestSweep = started + Math.max(soonMs, costMs * share);
      this.#nextSweep = Math.max(this.#nextSweep, this.#earliestSweep);
    }
    await this.#takeIn();
    await this.#count();
    const refill = await this.#takeReleased();
    this.#wakeTimed();
    return this.#admit(refill);
  }

  get #idleMs(): DurationMs {
    const left = [this.#gates, this.#swept, this.#released, this.#started, this.#uncounted];
    if (this.#isIntakeDue || left.some((some) => some.size > 0)) return 0;
    let first = Number.POSITIVE_INFINITY;
    for (const at of this.#timed.values()) first = Math.min(first, at);
    const timed = Math.ceil(first - this.#context.now());
    return Math.max(0, Math.min(this.#nextSweep - this.#context.clock.monotonic(), timed));
  }

  async #sweep(): Promise<void> {
    const { store, clock } = this.#context;
    this.#isIntakeDue = true;
    const gates = await store.limits.gates(this.#after, maxSwept);
    this.#after = gates.length < maxSwept ? "" : (gates.at(-1) ?? "");
    for (const gate of gates) if (this.#lanes.isHome(gate)) this.#swept.add(gate);
    for (const id of await store.limits.unswept(unsweptMs, maxSwept)) this.#unswept.add(id);
    if (clock.monotonic() < this.#nextTidy) return;
    this.#nextTidy = clock.monotonic() + unsweptMs;
    await store.limits.forget(forgetMs, maxSwept);
  }

  async #takeIn(): Promise<void> {
    if (!this.#isIntakeDue) return;
    this.#isIntakeDue = false;
    const { emit, wakeups } = this.#context;
    const { gates, refused, ended, isMore } = await this.#intake.take(await this.#lanes.own());
    if (isMore) this.#isIntakeDue = true;
    for (const gate of gates) this.#gates.add(gate);
    for (const { id: runId, namespaceId, jobId, task, queue, error } of refused) {
      const of = { namespaceId, runId, jobId, task, queue };
      emit({ type: "run.failed", ...of, durationMs: 0 });
      wakeups.publish("run.failed", { namespaceId, runId, task, error });
    }
    this.#publishFreed(freedJobs(ended));
  }

  async #count(): Promise<void> {
    for (const limit of this.#uncounted.values()) {
      await countHolders(limit, this.#context.store);
      this.#uncounted.delete(limit.id);
      this.#wakeWaiting(limit.id);
    }
  }

  /** The limits that runs held which ended or started, and the gates behind which the next runs need the same. */
  async #takeReleased(): Promise<Refill> {
    const ended = [...this.#released].slice(0, maxReleased);
    const started = [...this.#started].slice(0, maxReleased);
    const held = await this.#context.store.limits.ofRuns(ended, started);
    for (const id of ended) this.#released.delete(id);
    for (const id of started) this.#started.delete(id);
    const limitIds = [...new Set(held.map((one) => one.limitId))];
    for (const id of limitIds) this.#wakeWaiting(id);
    return { limitIds, gates: [...new Set(held.map((one) => one.gate))], released: [...ended, ...started] };
  }

  #wakeWaiting(limitId: number): void {
    for (const gate of this.#waiting.take(limitId, maxTried)) this.#gates.add(gate);
  }

  #wakeTimed(): void {
    const now = this.#context.now();
    for (const [gate, at] of this.#timed) {
      if (at > now) continue;
      this.#timed.delete(gate);
      this.#gates.add(gate);
    }
  }

  async #admit({ limitIds, gates, released }: Refill): Promise<number> {
    let count = 0;
    const ordered = gates.filter(isOrdered);
    const others = gates.filter((gate) => !isOrdered(gate));
    for (const gate of others.slice(batch)) this.#gates.add(gate);
    const refilled = [...ordered, ...others.slice(0, batch)];
    for (const gate of refilled) this.#gates.delete(gate);
    const woken = takeFrom(this.#gates, batch);
    if (woken.length > 0 || limitIds.length > 0)
      count += await this.#admitOnce({ gates: woken, refilled, limitIds, released }, released);
    const swept = takeFrom(this.#swept, batch);
    const unswept = takeFrom(this.#unswept, batch);
    if (swept.length > 0 || unswept.length > 0)
      count += await this.#admitOnce({ gates: swept, limitIds: unswept, released: null }, []);
    return count;
  }

  async #admitOnce(request: AdmissionRequest, released: readonly string[]): Promise<number> {
    const { limits, historyTransaction } = this.#context.store;
    let admitted: Admitted;
    try {
      admitted = await historyTransaction((tx) => admit(tx, limits, request));
      if (admitted.unlocked.length > 0) {
        this.#follow(admitted, request);
        const { unlocked: named } = admitted;
        admitted = await historyTransaction((tx) => admit(tx, limits, { ...request, named }));
      }
    } catch (error) {
      for (const gate of request.gates) this.#gates.add(gate);
      for (const id of released) this.#released.add(id);
      throw error;
    }
    this.#follow(admitted, request);
    return admitted.queued.length;
  }

  /** After the commit of an admission. */
  #follow(admitted: Admitted, { gates, refilled = [] }: AdmissionRequest): void {
    const { emit, wakeups } = this.#context;
    const { queued, more, waiting, nextAt, freed, stopped, uncounted } = admitted;
    announceEnded(stopped, "cancelled", emit);
    this.#publishFreed(freedBy(stopped));
    for (const limit of uncounted) this.#uncounted.set(limit.id, limit);
    for (const gate of [...gates, ...refilled]) this.#timed.delete(gate);
    for (const gate of more) this.#gates.add(gate);
    for (const id of freed) this.#wakeWaiting(id);
    for (const [gate, full] of waiting) {
      for (const id of full) this.#waiting.add(id, gate);
      if (nextAt !== null) this.#timed.set(gate, nextAt);
    }
    wakeups.runsAdmitted(queued);
  }

  #publishFreed(jobIds: readonly string[]): void {
    if (jobIds.length > 0) this.#context.wakeups.publish("overlap.freed", jobIds);
  }
}

function takeFrom<Item>(items: Set<Item>, max: number): Item[] {
  const taken = [...items].slice(0, max);
  for (const item of taken) items.delete(item);
  return taken;
}

/** Pairs of a limit and a gate that are remembered. */
const maxPairs = 10_000;

/**
 * The gates that wait for each limit, so that they are tried when it is released. Only for speed: the sweep finds the gates that are
 * forgotten here. The oldest are forgotten, since a gate that stops waiting is not removed.
 */
export class WaitingGates {
  readonly #maxPairs: number;
  readonly #byLimit = new Map<number, Set<string>>();
  #size = 0;

  constructor(max = maxPairs) {
    this.#maxPairs = max;
  }

  get size(): number {
    return this.#size;
  }

  add(limitId: number, gate: string): void {
    let gates = this.#byLimit.get(limitId);
    if (gates === undefined) this.#byLimit.set(limitId, (gates = new Set()));
    if (gates.has(gate)) return;
    gates.add(gate);
    this.#size++;
    for (const oldest of this.#byLimit.keys()) {
      if (this.#size <= this.#maxPairs) break;
      this.take(oldest, this.#size - this.#maxPairs);
    }
  }

  /** Removes and returns the first gates that wait for the limit, at most `max`. */
  take(limitId: number, max: number): string[] {
    const gates = this.#byLimit.get(limitId) ?? new Set<string>();
    const taken: string[] = [];
    for (const gate of gates) {
      if (taken.length >= max) break;
      taken.push(gate);
      gates.delete(gate);
    }
    this.#size -= taken.length;
    if (gates.size === 0) this.#byLimit.delete(limitId);
    return taken;
  }
}
