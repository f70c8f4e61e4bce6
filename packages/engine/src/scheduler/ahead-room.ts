import type { Instant } from "@carillon/core";
import type { DueRun } from "@carillon/store";

/** Places that are taken until the last of their runs is due. */
export class AheadPlaces {
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
 * How many more runs may be queued ahead of their time. Every look at their lane walks over them until then, so that there must
 * not be too many.
 */
export class AheadRoom {
  readonly #most: number;
  #taken: AheadPlaces[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  left(now: Instant): number {
    this.#taken = this.#taken.filter(({ until }) => until > now);
    return this.#taken.reduce((left, { count }) => left - count, this.#most);
  }

  take(runs: readonly DueRun[]): AheadPlaces {
    const places = new AheadPlaces(runs);
    if (runs.length > 0) this.#taken.push(places);
    return places;
  }
}
