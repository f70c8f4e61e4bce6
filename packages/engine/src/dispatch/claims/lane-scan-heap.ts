import type { DurationMs } from "@carillon/core";
import type { Spot } from "./lane-cursor.js";

interface Entry {
  /** When the spot was due as it was entered; it may be due later by now, never earlier. */
  at: DurationMs;
  readonly spot: Spot;
}

/** Binary heap of spots by their next full look. A spot whose time moved is put right when it comes first. */
export class DueSpots {
  readonly #entries: Entry[] = [];

  add(spot: Spot): void {
    let index = this.#entries.push({ at: spot.fullLookAt, spot }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) return;
      index = parent;
    }
  }

  /** When the first of them is due; infinite if there is none. */
  nextAt(): DurationMs {
    for (;;) {
      const [first] = this.#entries;
      if (first === undefined) return Number.POSITIVE_INFINITY;
      if (first.at >= first.spot.fullLookAt) return first.at;
      this.#moveFirst(first, first.spot.fullLookAt);
    }
  }

  /** The first of them, if it is due; it is asked for again at the given time at the earliest. */
  take(now: DurationMs, againAt: DurationMs): Spot | null {
    if (this.nextAt() > now) return null;
    const [first] = this.#entries;
    if (first === undefined) return null;
    first.spot.fullLookAt = againAt;
    this.#moveFirst(first, againAt);
    return first.spot;
  }

  #moveFirst(first: Entry, at: DurationMs): void {
    first.at = at;
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(child, index)) return;
      index = child;
    }
  }

  #isBefore(index: number, other: number): boolean {
    const a = this.#entries[index];
    const b = this.#entries[other];
    return a !== undefined && b !== undefined && a.at < b.at;
  }

  #swapIfBefore(index: number, other: number): boolean {
    const a = this.#entries[index];
    const b = this.#entries[other];
    if (a === undefined || b === undefined || a.at >= b.at) return false;
    this.#entries[other] = a;
    this.#entries[index] = b;
    return true;
  }
}
