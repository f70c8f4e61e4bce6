import type { Clock, DurationMs, Instant } from "@carillon/core";
import type { OnEngineEvent, FailedRun } from "../events.js";
import { SteadyCost } from "../loops/steady-cost.js";
import {
  freedBy,
  freedJobs,
  type LimitedLane,
  type LimitRow,
  type LimitStore,
  type Queryable,
  type Queued,
} from "@carillon/store";
import { announceEnded } from "../runs/announce-ended.js";
import { admit, type Admitted, type AdmissionRequest } from "./admission.js";
import { countHolders } from "./count-holders.js";
import type { Intake } from "./intake.js";
import { isOrdered } from "./limit-text.js";
import { WaitingGates } from "./waiting-gates.js";

export interface LimitAdmitterOptions {
  readonly limits: LimitStore;
  readonly intake: Pick<Intake, "take">;
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly clock: Pick<Clock, "monotonic">;
  /** The database's clock. */
  readonly now: () => Instant;
  /** Lanes whose runs have limits, of which this node looks after some. */
  readonly lanes: () => Promise<readonly LimitedLane[]>;
  /** Whether this node looks after the gate. For efficiency only: two that do it at once do no harm. */
  readonly isHome: (gate: string) => boolean;
  readonly onAdmitted: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onFailed: (run: FailedRun) => void;
  readonly onEvent: OnEngineEvent;
}

/** What runs that ended or started leave to be seen to. */
interface Refill {
  readonly limitIds: readonly number[];
  readonly gates: readonly string[];
  readonly released: readonly string[];
}

const everyMs: DurationMs = 1_000;
/** However often it is asked for, there is so much time between two sweeps. */
const soonMs: DurationMs = 50;
/** A sweep takes at most a twentieth of the time. */
const share = 20;
/** Gates of one transaction, of which many runs are read each. */
const batch = 50;
/** Runs that ended, and with them ordering keys whose next run one transaction admits: of these one run is read each. */
const mostReleased = 500;
/** Gates that one sweep looks at; the next goes on where it ended. */
const mostSwept = 1_000;
/** Gates that wait for one limit and are tried when it is released. */
const mostTried = 64;
/** Limits for which nobody waits are looked at so often: what is held by nothing is found. */
const unsweptMs: DurationMs = 10_000;
/** A limit that nobody used for so long is forgotten. */
const forgetMs: DurationMs = 3_600_000;

/**
 * Lets runs with limits start: when one came, when one that held a limit ended, when a rate has room again, and by a look at
 * everything that waits every second, which also finds what a node left that died in between.
 */
export class LimitAdmitter {
  readonly #options: LimitAdmitterOptions;
  readonly #gates = new Set<string>();
  readonly #released = new Set<string>();
  readonly #started = new Set<string>();
  /** Limits whose holders are all looked at. */
  readonly #unswept = new Set<number>();
  /** Gates whose limits are all looked at. */
  readonly #swept = new Set<string>();
  readonly #waiting = new WaitingGates();
  /** Limits that have no room until their holders are counted. */
  readonly #uncounted = new Map<number, LimitRow>();
  /** Gates for which a time makes room. */
  readonly #timed = new Map<string, Instant>();
  readonly #cost = new SteadyCost();
  #isIntakeAsked = true;
  #nextSweep = 0;
  #earliestSweep = 0;
  #nextTidy = 0;
  #after = "";

  constructor(options: LimitAdmitterOptions) {
    this.#options = options;
  }

  /** Runs came that have limits. */
  arrived(): void {
    this.#isIntakeAsked = true;
  }

  /** Runs that hold limits ended, or were given back. */
  released(runIds: readonly string[]): void {
    for (const id of runIds) this.#released.add(id);
  }

  /** Runs that were admitted have started: rates count from now. */
  started(runIds: readonly string[]): void {
    for (const id of runIds) this.#started.add(id);
  }

  /** Anything may have changed. */
  lookSoon(): void {
    this.#isIntakeAsked = true;
    this.#nextSweep = Math.min(this.#nextSweep, this.#earliestSweep);
  }

  /** One bounded pass; answers how many runs were admitted. */
  async tick(): Promise<number> {
    const started = this.#options.clock.monotonic();
    if (started >= this.#nextSweep) {
      this.#nextSweep = started + everyMs;
      await this.#sweep();
      const costMs = this.#cost.after(this.#options.clock.monotonic() - started);
      this.#earliestSweep = started + Math.max(soonMs, costMs * share);
      this.#nextSweep = Math.max(this.#nextSweep, this.#earliestSweep);
    }
    await this.#takeIn();
    await this.#count();
    const refill = await this.#takeReleased();
    this.#wakeTimed();
    return this.#admit(refill);
  }

  get idleMs(): DurationMs {
    const left = [this.#gates, this.#swept, this.#released, this.#started, this.#uncounted];
    if (this.#isIntakeAsked || left.some((some) => some.size > 0)) return 0;
    let first = Number.POSITIVE_INFINITY;
    for (const at of this.#timed.values()) first = Math.min(first, at);
    const timed = Math.ceil(first - this.#options.now());
    return Math.max(0, Math.min(this.#nextSweep - this.#options.clock.monotonic(), timed));
  }

  async #sweep(): Promise<void> {
    const { limits, isHome, clock } = this.#options;
    this.#isIntakeAsked = true;
    const gates = await limits.gates(this.#after, mostSwept);
    this.#after = gates.length < mostSwept ? "" : (gates.at(-1) ?? "");
    for (const gate of gates) if (isHome(gate)) this.#swept.add(gate);
    for (const id of await limits.unswept(unsweptMs, mostSwept)) this.#unswept.add(id);
    if (clock.monotonic() < this.#nextTidy) return;
    this.#nextTidy = clock.monotonic() + unsweptMs;
    await limits.forget(forgetMs, mostSwept);
  }

  async #takeIn(): Promise<void> {
    if (!this.#isIntakeAsked) return;
    this.#isIntakeAsked = false;
    const { intake, lanes, onFreed, onFailed, onEvent } = this.#options;
    const { gates, refused, ended, isMore } = await intake.take(await lanes());
    if (isMore) this.#isIntakeAsked = true;
    for (const gate of gates) this.#gates.add(gate);
    for (const { id: runId, namespaceId, jobId, task, queue, error } of refused) {
      const of = { namespaceId, runId, jobId, task, queue };
      onEvent({ type: "run.finished", ...of, status: "failed", durationMs: 0 });
      onFailed({ namespaceId, runId, task, error });
    }
    onFreed(freedJobs(ended));
  }

  async #count(): Promise<void> {
    for (const limit of this.#uncounted.values()) {
      await countHolders(limit, this.#options);
      this.#uncounted.delete(limit.id);
      this.#wakeWaiting(limit.id);
    }
  }

  /** What the runs that ended or started held, and the gates behind which the next ones need the same. */
  async #takeReleased(): Promise<Refill> {
    const over = [...this.#released].slice(0, mostReleased);
    const started = [...this.#started].slice(0, mostReleased);
    const held = await this.#options.limits.ofRuns(over, started);
    for (const id of over) this.#released.delete(id);
    for (const id of started) this.#started.delete(id);
    const limitIds = [...new Set(held.map((one) => one.limitId))];
    for (const id of limitIds) this.#wakeWaiting(id);
    return { limitIds, gates: [...new Set(held.map((one) => one.gate))], released: [...over, ...started] };
  }

  #wakeWaiting(limitId: number): void {
    for (const gate of this.#waiting.take(limitId, mostTried)) this.#gates.add(gate);
  }

  #wakeTimed(): void {
    const now = this.#options.now();
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
    const hinted = takeFrom(this.#gates, batch);
    if (hinted.length > 0 || limitIds.length > 0)
      count += await this.#once({ gates: hinted, refilled, limitIds, released }, released);
    const swept = takeFrom(this.#swept, batch);
    const unswept = takeFrom(this.#unswept, batch);
    if (swept.length > 0 || unswept.length > 0)
      count += await this.#once({ gates: swept, limitIds: unswept, released: null }, []);
    return count;
  }

  async #once(request: AdmissionRequest, released: readonly string[]): Promise<number> {
    const { limits, settle } = this.#options;
    let admitted: Admitted;
    try {
      admitted = await settle((tx) => admit(tx, limits, request));
      if (admitted.unlocked.length > 0) {
        this.#take(admitted, request);
        const { unlocked: named } = admitted;
        admitted = await settle((tx) => admit(tx, limits, { ...request, named }));
      }
    } catch (error) {
      for (const gate of request.gates) this.#gates.add(gate);
      this.released(released);
      throw error;
    }
    this.#take(admitted, request);
    return admitted.queued.length;
  }

  #take(admitted: Admitted, { gates, refilled = [] }: AdmissionRequest): void {
    const { queued, more, waiting, nextAt, freed, stopped, uncounted } = admitted;
    announceEnded(stopped, "cancelled", this.#options.onEvent);
    this.#options.onFreed(freedBy(stopped));
    for (const limit of uncounted) this.#uncounted.set(limit.id, limit);
    for (const gate of [...gates, ...refilled]) this.#timed.delete(gate);
    for (const gate of more) this.#gates.add(gate);
    for (const id of freed) this.#wakeWaiting(id);
    for (const [gate, full] of waiting) {
      for (const id of full) this.#waiting.add(id, gate);
      if (nextAt !== null) this.#timed.set(gate, nextAt);
    }
    if (queued.length > 0) this.#options.onAdmitted(queued);
  }
}

function takeFrom<Item>(items: Set<Item>, most: number): Item[] {
  const taken = [...items].slice(0, most);
  for (const item of taken) items.delete(item);
  return taken;
}
