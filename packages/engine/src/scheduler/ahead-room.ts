import type { Instant } from "@carillon/core";
import type { PromotedRun } from "../store/entities/runs.js";

/**
 * How many more runs may be queued ahead of their time. Every look at their lane walks over them until then, so that there must
 * not be too many.
 */
export class AheadRoom {
  readonly #most: number;
  #queued: { readonly until: Instant; readonly count: number }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  left(now: Instant): number {
    this.#queued = this.#queued.filter(({ until }) => until > now);
    return this.#queued.reduce((left, { count }) => left - count, this.#most);
  }

  take(runs: readonly PromotedRun[], now: Instant): void {
    let until = now;
    let count = 0;
    for (const { runAt } of runs) {
      if (runAt <= now) continue;
      until = Math.max(until, runAt);
      count++;
    }
    if (count > 0) this.#queued.push({ until, count });
  }
}
