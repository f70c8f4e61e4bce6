/** A reference implementation of the wheel: a sorted array. */
export class SortedModel<T> {
  readonly #tickMs: number;
  #entries: { id: number; tick: number; item: T }[] = [];
  #ids = 0;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  get size(): number {
    return this.#entries.length;
  }

  insert(dueMs: number, item: T): number {
    const id = this.#ids++;
    this.#entries.push({ id, tick: Math.max(0, Math.ceil(dueMs / this.#tickMs)), item });
    return id;
  }

  cancel(id: number): boolean {
    const before = this.size;
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    return this.size < before;
  }

  advance(nowMs: number, max = Number.POSITIVE_INFINITY): T[] {
    const due = this.#entries
      .filter((entry) => entry.tick * this.#tickMs <= nowMs)
      .sort((a, b) => a.tick - b.tick || a.id - b.id)
      .slice(0, max);
    this.#entries = this.#entries.filter((entry) => !due.includes(entry));
    return due.map((entry) => entry.item);
  }

  nextDue(): number {
    return this.size === 0 ? -1 : Math.min(...this.#entries.map((entry) => entry.tick)) * this.#tickMs;
  }
}
