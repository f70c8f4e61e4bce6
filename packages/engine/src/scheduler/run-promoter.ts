import type { DurationMs, Instant } from "@carillon/core";
import type { DueRun, PromotedRun } from "@carillon/store";
import { fenceOf } from "../cluster/coordinator.js";
import type { Membership } from "../context.js";
import type { FireStore } from "../schedules/fire-store.js";

export interface AheadLimits {
  /** How long before their time delayed runs may be queued, and how many. */
  readonly aheadMs: DurationMs;
  readonly maxAhead: number;
}

export interface RunPromoterOptions {
  readonly store: Pick<FireStore, "promote">;
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly limits: AheadLimits;
  readonly onPromoted: (runs: readonly PromotedRun[]) => void;
  /** Not queued ahead: the run is taken again at its time. */
  readonly onWaiting: (run: DueRun) => void;
  readonly onRefused: (runs: readonly DueRun[]) => void;
}

/** Queues delayed and retrying runs, at their time or ahead of it. */
export class RunPromoter {
  readonly #options: RunPromoterOptions;
  readonly #room: AheadRoom;

  constructor(options: RunPromoterOptions) {
    this.#options = options;
    this.#room = new AheadRoom(options.limits.maxAhead);
  }

  /** Returns how many runs were queued. */
  async promote(runs: readonly DueRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const { store, membership, onPromoted, onWaiting, onRefused, now, limits } = this.#options;
    const { tried, slots } = this.#choose(runs, now());
    if (tried.length === 0) return 0;
    const ids = tried.map((run) => run.id);
    const promoted = await store.promote(fenceOf(membership(), tried), ids, limits.aheadMs);
    onPromoted(promoted);
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
    for (const run of early.slice(ahead.length)) this.#options.onWaiting(run);
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

  /** So many were not queued ahead. */
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
