const none = -1;

/** A handle is the generation of an entry times this, plus its index: a safe integer. */
const indexes = 2 ** 26;
const lastGeneration = 2 ** 27 - 1;

/** Each entry has four numbers side by side, because they are used together: at 4 × index plus one of these. */
const next = 0;
const previous = 1;
const slotOf = 2;
/** How often the index was used before: distinguishes the handle of a former entry from that of the present one. */
const generation = 3;

/**
 * Entries in doubly linked lists, one list for each slot, in flat arrays: 24 bytes and one reference for each entry, nothing
 * for the garbage collector to follow. An entry is an index; freed ones are used again. A bitmap says which slots have
 * entries, 32 slots to a word.
 */
export class SlotLists<T> {
  /** The tick of each entry. */
  ticks = new Float64Array(0);
  readonly occupied: Uint32Array;
  size = 0;

  #items: (T | undefined)[] = [];
  #links = new Int32Array(0);
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
      this.#free = at(this.#links, entry * 4 + next);
    }
    this.ticks[entry] = tick;
    this.#items[entry] = item;
    this.size++;
    return entry;
  }

  /** Frees an entry that is in no slot, and gives its item. */
  remove(entry: number): T {
    const links = this.#links;
    const item = this.#items[entry] as T;
    this.#items[entry] = undefined;
    links[entry * 4 + generation] = (at(links, entry * 4 + generation) + 1) & lastGeneration;
    links[entry * 4 + slotOf] = none;
    links[entry * 4 + next] = this.#free;
    this.#free = entry;
    this.size--;
    return item;
  }

  /** Puts an entry that is in no slot at the end of one. */
  append(slot: number, entry: number): void {
    const links = this.#links;
    const tail = at(this.#tails, slot);
    links[entry * 4 + slotOf] = slot;
    links[entry * 4 + next] = none;
    links[entry * 4 + previous] = tail;
    this.#tails[slot] = entry;
    if (tail !== none) {
      links[tail * 4 + next] = entry;
    } else {
      this.#heads[slot] = entry;
      this.occupied[slot >>> 5] = at(this.occupied, slot >>> 5) | (1 << (slot & 31));
    }
  }

  /** Takes an entry out of its slot. */
  unlink(entry: number): void {
    const links = this.#links;
    const slot = at(links, entry * 4 + slotOf);
    const after = at(links, entry * 4 + next);
    const before = at(links, entry * 4 + previous);
    if (before === none) this.#heads[slot] = after;
    else links[before * 4 + next] = after;
    if (after === none) this.#tails[slot] = before;
    else links[after * 4 + previous] = before;
    if (before === none && after === none) this.#clearBit(slot);
  }

  /** Takes all entries before this one out of the slot; all that it has, if this one is -1. */
  beginAt(slot: number, entry: number): void {
    this.#heads[slot] = entry;
    if (entry !== none) {
      this.#links[entry * 4 + previous] = none;
    } else {
      this.#tails[slot] = none;
      this.#clearBit(slot);
    }
  }

  first(slot: number): number {
    return at(this.#heads, slot);
  }

  last(slot: number): number {
    return at(this.#tails, slot);
  }

  after(entry: number): number {
    return at(this.#links, entry * 4 + next);
  }

  handleOf(entry: number): number {
    return at(this.#links, entry * 4 + generation) * indexes + entry;
  }

  /** The entry that the handle was given for, or -1 if it is gone. */
  entryOf(handle: number): number {
    const given = Math.floor(handle / indexes);
    const entry = handle - given * indexes;
    if (!Number.isInteger(entry) || entry >= this.#fresh) return none;
    const lives = at(this.#links, entry * 4 + slotOf) !== none && at(this.#links, entry * 4 + generation) === given;
    return lives ? entry : none;
  }

  #clearBit(slot: number): void {
    this.occupied[slot >>> 5] = at(this.occupied, slot >>> 5) & ~(1 << (slot & 31));
  }

  #grow(): void {
    const before = this.ticks.length;
    if (before === indexes) throw new RangeError(`A timing wheel has at most ${indexes} entries.`);
    const capacity = Math.max(64, before * 2);
    const ticks = new Float64Array(capacity);
    ticks.set(this.ticks);
    this.ticks = ticks;
    const links = new Int32Array(capacity * 4);
    links.set(this.#links);
    this.#links = links;
  }
}

interface Numbers {
  readonly [index: number]: number;
}

/** The element; indexes here come from the structure itself and are in range. */
function at(array: Numbers, index: number): number {
  return array[index] as number;
}
