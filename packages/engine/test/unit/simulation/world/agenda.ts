import type { Instant } from "@carillon/core";

type Action = () => Promise<void> | void;

interface Entry {
  readonly at: Instant;
  readonly place: number;
  readonly action: Action;
}

/** What is to happen when: a heap, so that a year of it costs little. */
export class Agenda {
  readonly #heap: Entry[] = [];
  #places = 0;

  get next(): Instant {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: Instant, action: Action): void {
    const heap = this.#heap;
    let index = heap.push({ at, place: this.#places++, action }) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!this.#swapIfEarlier(index, above)) break;
      index = above;
    }
  }

  /** The first action whose time has come, taken out; null when there is none. */
  take(now: Instant): Action | null {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return null;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first.action;
  }

  #sink(): void {
    for (let index = 0; ;) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const isRightFirst = right < this.#heap.length && this.#isEarlier(right, left);
      const below = isRightFirst ? right : left;
      if (below >= this.#heap.length || !this.#swapIfEarlier(below, index)) return;
      index = below;
    }
  }

  #isEarlier(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.at < b.at || (a.at === b.at && a.place < b.place);
  }

  #swapIfEarlier(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined || !this.#isEarlier(one, other)) return false;
    [this.#heap[one], this.#heap[other]] = [b, a];
    return true;
  }
}
