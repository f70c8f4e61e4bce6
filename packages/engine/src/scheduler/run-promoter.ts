import type { DurationMs, Instant } from "@carillon/core";
import type { DueRun } from "@carillon/store";
import { fenceOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import type { FireStore } from "../schedules/fire-store.js";

export interface AheadLimits {
  /** How long before their time delayed runs may be queued, and how many. */
  readonly aheadMs: () => DurationMs;
  readonly maxAhead: number;
}

export type RunPromoterContext = Pick<EngineContext, "membership" | "now"> & {
  readonly wakeups: Pick<EngineContext["wakeups"], "runsPromoted">;
};

export interface RunPromoterDeps {
  readonly store: Pick<FireStore, "promote">;
  readonly limits: AheadLimits;
  /** Not queued ahead: the run is taken again at its time. */
  readonly onWaiting: (run: DueRun) => void;
  readonly onRefused: (runs: readonly DueRun[]) => void;
}

/** Queues delayed and retrying runs, at their time or ahead of it. */
export class RunPromoter {
  readonly #context: RunPromoterContext;
  readonly #deps: RunPromoterDeps;
  readonly #room: AheadRoom;

  constructor(context: RunPromoterContext, deps: RunPromoterDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#room = new AheadRoom(deps.limits.maxAhead);
  }

  /** Returns how many runs were queued. */
  async promote(runs: readonly DueRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const { membership, now, wakeups } = this.#context;
    const { store, onWaiting, onRefused, limits } = this.#deps;
    const { tried, slots } = this.#choose(runs, now());
    if (tried.length === 0) return 0;
    const ids = tried.map((run) => run.id);
    const promoted = await store.promote(fenceOf(membership(), tried), ids, limits.aheadMs());
    wakeups.runsPromoted(promoted);
    const done = new Set(promoted.map((run) => run.id));
    const left = tried.filter((run) => !done.has(run.id));
    const at = now();
    const waiting = left.filter((run) => run.runAt > at);
    slots.giveBack(waiting.length);
    for (const run of waiting) onWaiting(run);
    if (left.length > waiting.length) onRefused(left.filter((run) => run.runAt <= at));
    return promoted.length;
  }

  /** The due runs, and those that may be queued ahead; the others wait for their time. */
  #choose(runs: readonly DueRun[], now: Instant): { tried: readonly DueRun[]; slots: AheadSlots } {
    const due = runs.filter((run) => run.runAt <= now);
    const early = runs.filter((run) => run.runAt > now);
    const ahead = early.slice(0, this.#room.left(now));
    for (const run of early.slice(ahead.length)) this.#deps.onWaiting(run);
    return { tried: [...due, ...ahead], slots: this.#room.take(ahead) };
  }
}

/** Slots that are taken until the last of their runs is due. */
export class AheadSlots {
  readonly until: Instant;
  #count: number;

  constructor(runs: readonly DueRun[]) {
    this.until = runs.reduce((last, run) => Math.max(last, run.runAt), 0);
    this.#count = runs.length;
  }

  get count(): number {
    return this.#count;
  }

  /** Frees the slots of runs that were not queued ahead after all. */
  giveBack(count: number): void {
    this.#count -= count;
  }
}

/**
 * How many more runs may be queued ahead of their time. Every scan of their lane passes over them until then, so their
 * number is limited.
 */
export class AheadRoom {
  readonly #max: number;
  #taken: AheadSlots[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  left(now: Instant): number {
    this.#taken = this.#taken.filter(({ until }) => until > now);
    return this.#taken.reduce((left, { count }) => left - count, this.#max);
  }

  take(runs: readonly DueRun[]): AheadSlots {
    const slots = new AheadSlots(runs);
    if (runs.length > 0) this.#taken.push(slots);
    return slots;
  }
}
