const none = -1;

/** A handle is the generation of an entry times this, plus its index: a safe integer. */
const indexes = 2 ** 26;
const lastGeneration = 2 ** 27 - 1;

/**
 * Entries in doubly linked lists, one list for each slot, in flat arrays: 22 bytes and one reference for each entry, nothing
 * for the garbage collector to follow. An entry is an index; freed ones are used again. A bitmap says which slots have
 * entries, 32 slots to a word.
 */
export class SlotLists<T> {
  /** The tick of each entry. */
  ticks = new Float64Array(0);
  readonly occupied: Uint32Array;
  size = 0;

  #items: (T | undefined)[] = [];
  /** How often each index was used before: tells the handle of a former entry from that of the present one. */
  #generations = new Uint32Array(0);
  #next = new Int32Array(0);
  #previous = new Int32Array(0);
  #slots = new Int16Array(0);
  readonly #heads: Int32Array;
  readonly #tails: Int32Array;
  #free = none;
  /** Indexes from here on were never used. */
  #fresh = 0;

  constructor(slots: number) {
    this.#heads = new Int32Array(slots).fill(none);
    this.#tails = new Int32Array(slots).fill(none);
    this.occupied = new Uint32Array(Math.ceil(slots / 32));
  }

  /** A new entry, in no slot yet. */
  add(tick: number, item: T): number {
    let entry = this.#free;
    if (entry === none) {
      if (this.#fresh === this.ticks.length) this.#grow();
      entry = this.#fresh++;
    } else {
      this.#free = at(this.#next, entry);
    }
    this.ticks[entry] = tick;
    this.#items[entry] = item;
    this.size++;
    return entry;
  }

  /** Frees an entry that is in no slot, and gives its item. */
  remove(entry: number): T {
    const item = this.#items[entry] as T;
    this.#items[entry] = undefined;
    this.#generations[entry] = (at(this.#generations, entry) + 1) & lastGeneration;
    this.#slots[entry] = none;
    this.#next[entry] = this.#free;
    this.#free = entry;
    this.size--;
    return item;
  }

  /** Puts an entry that is in no slot at the end of one. */
  append(slot: number, entry: number): void {
    const tail = at(this.#tails, slot);
    this.#slots[entry] = slot;
    this.#next[entry] = none;
    this.#previous[entry] = tail;
    this.#tails[slot] = entry;
    if (tail !== none) {
      this.#next[tail] = entry;
    } else {
      this.#heads[slot] = entry;
      this.occupied[slot >>> 5] = at(this.occupied, slot >>> 5) | (1 << (slot & 31));
    }
  }

  /** Takes an entry out of its slot. */
  unlink(entry: number): void {
    const slot = at(this.#slots, entry);
    const next = at(this.#next, entry);
    const previous = at(this.#previous, entry);
    if (previous === none) this.#heads[slot] = next;
    else this.#next[previous] = next;
    if (next === none) this.#tails[slot] = previous;
    else this.#previous[next] = previous;
    if (previous === none && next === none) this.#clearBit(slot);
  }

  /** Empties a slot and gives its first entry; `after` leads through the others as long as none is linked anew. */
  detach(slot: number): number {
    const head = at(this.#heads, slot);
    this.#heads[slot] = none;
    this.#tails[slot] = none;
    this.#clearBit(slot);
    return head;
  }

  first(slot: number): number {
    return at(this.#heads, slot);
  }

  last(slot: number): number {
    return at(this.#tails, slot);
  }

  after(entry: number): number {
    return at(this.#next, entry);
  }

  handleOf(entry: number): number {
    return at(this.#generations, entry) * indexes + entry;
  }

  /** The entry that the handle was given for, or -1 if it is gone. */
  entryOf(handle: number): number {
    const generation = Math.floor(handle / indexes);
    const entry = handle - generation * indexes;
    const lives = entry < this.#fresh && at(this.#slots, entry) !== none && at(this.#generations, entry) === generation;
    return lives ? entry : none;
  }

  #clearBit(slot: number): void {
    this.occupied[slot >>> 5] = at(this.occupied, slot >>> 5) & ~(1 << (slot & 31));
  }

  #grow(): void {
    if (this.ticks.length === indexes) throw new RangeError(`at most ${indexes} entries fit`);
    const capacity = Math.min(indexes, Math.max(64, Math.ceil(this.ticks.length * 1.5)));
    this.ticks = widened(new Float64Array(capacity), this.ticks);
    this.#generations = widened(new Uint32Array(capacity), this.#generations);
    this.#next = widened(new Int32Array(capacity), this.#next);
    this.#previous = widened(new Int32Array(capacity), this.#previous);
    this.#slots = widened(new Int16Array(capacity), this.#slots);
  }
}

interface Numbers {
  readonly [index: number]: number;
}

/** The element; indexes here come from the structure itself and are in range. */
function at(array: Numbers, index: number): number {
  return array[index] as number;
}

function widened<A extends { set(from: A): void }>(wide: A, narrow: A): A {
  wide.set(narrow);
  return wide;
}
