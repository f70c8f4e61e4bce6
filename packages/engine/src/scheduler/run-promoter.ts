import type { DurationMs, Instant } from "@carillon/core";
import type { DueRun, PromotedRun } from "@carillon/store";
import { type AheadPlaces, AheadRoom } from "./ahead-room.js";
import { fenceOf } from "./fence.js";
import type { FireStore } from "../schedules/fire-store.js";
import type { Membership } from "../context.js";

export interface AheadLimits {
  /** How long before their time delayed runs may be queued, and how many. */
  readonly aheadMs: DurationMs;
  readonly mostAhead: number;
}

export interface RunPromoterOptions {
  readonly store: Pick<FireStore, "promote">;
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly limits: AheadLimits;
  readonly onPromoted: (runs: readonly PromotedRun[]) => void;
  /** Not queued ahead: it is to come again at its time. */
  readonly onWaiting: (run: DueRun) => void;
  readonly onRefused: (runs: readonly DueRun[]) => void;
}

/** Queues delayed and retrying runs, at their time or ahead of it. */
export class RunPromoter {
  readonly #options: RunPromoterOptions;
  readonly #room: AheadRoom;

  constructor(options: RunPromoterOptions) {
    this.#options = options;
    this.#room = new AheadRoom(options.limits.mostAhead);
  }

  /** Answers how many were queued. */
  async promote(runs: readonly DueRun[]): Promise<number> {
    if (runs.length === 0) return 0;
    const { store, membership, onPromoted, onWaiting, onRefused, now, limits } = this.#options;
    const { tried, places } = this.#choose(runs, now());
    if (tried.length === 0) return 0;
    const ids = tried.map((run) => run.id);
    const promoted = await store.promote(fenceOf(membership(), tried), ids, limits.aheadMs);
    onPromoted(promoted);
    const done = new Set(promoted.map((run) => run.id));
    const left = tried.filter((run) => !done.has(run.id));
    const at = now();
    const waiting = left.filter((run) => run.runAt > at);
    places.giveBack(waiting.length);
    for (const run of waiting) onWaiting(run);
    if (left.length > waiting.length) onRefused(left.filter((run) => run.runAt <= at));
    return promoted.length;
  }

  /** What is due, and what may be queued ahead; the others wait for their time. */
  #choose(runs: readonly DueRun[], now: Instant): { tried: readonly DueRun[]; places: AheadPlaces } {
    const due = runs.filter((run) => run.runAt <= now);
    const early = runs.filter((run) => run.runAt > now);
    const ahead = early.slice(0, this.#room.left(now));
    for (const run of early.slice(ahead.length)) this.#options.onWaiting(run);
    return { tried: [...due, ...ahead], places: this.#room.take(ahead) };
  }
}
