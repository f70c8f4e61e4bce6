/** Freed slots at the front that are worth a copy of the rest. */
const worthCompacting = 4_096;

/** First in, first out. What was withdrawn stays in place until its turn and is passed over then. */
export class ReadyQueue<Entry extends { readonly isWithdrawn: boolean }> {
  #entries: (Entry | undefined)[] = [];
  #head = 0;
  #live = 0;

  /** Entries that wait, those withdrawn not counted. */
  get length(): number {
    return this.#live;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#live += 1;
  }

  /** To be called once for each waiting entry that becomes withdrawn. */
  countWithdrawn(): void {
    this.#live -= 1;
  }

  /** Moves up to `max` entries to the end of `taken`. */
  take(max: number, taken: Entry[]): void {
    const enough = Math.min(max, this.#live);
    for (let count = 0; count < enough;) {
      const entry = this.#entries[this.#head];
      this.#entries[this.#head++] = undefined;
      if (entry === undefined || entry.isWithdrawn) continue;
      taken.push(entry);
      count += 1;
    }
    this.#live -= enough;
    if (this.#live === 0) this.#clear();
    else if (this.#head >= worthCompacting && this.#head * 2 >= this.#entries.length) this.#compact();
  }

  #clear(): void {
    this.#entries = [];
    this.#head = 0;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
