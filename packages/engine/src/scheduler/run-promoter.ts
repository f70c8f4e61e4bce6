import type { DurationMs, Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { DueRun, PromotedRun } from "../store/entities/runs.js";
import { AheadRoom } from "./ahead-room.js";
import { fenceOf } from "./fence-of.js";
import type { FireStore } from "./fire-store.js";

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
    const { store, membership, onPromoted, onRefused, now, limits } = this.#options;
    const tried = this.#withinRoom(runs, now());
    if (tried.length === 0) return 0;
    const ids = tried.map((run) => run.id);
    const promoted = await store.promote(fenceOf(membership(), tried), ids, limits.aheadMs);
    this.#room.take(promoted, now());
    onPromoted(promoted);
    const done = new Set(promoted.map((run) => run.id));
    const refused = tried.filter((run) => !done.has(run.id) && !this.#waits(run, now()));
    if (refused.length > 0) onRefused(refused);
    return promoted.length;
  }

  /** What is due, and what may be queued ahead; the others wait for their time. */
  #withinRoom(runs: readonly DueRun[], now: Instant): readonly DueRun[] {
    let room = this.#room.left(now);
    return runs.filter((run) => run.runAt <= now || room-- > 0 || !this.#waits(run, now));
  }

  /** False: its time has come. */
  #waits(run: DueRun, now: Instant): boolean {
    if (run.runAt <= now) return false;
    this.#options.onWaiting(run);
    return true;
  }
}
