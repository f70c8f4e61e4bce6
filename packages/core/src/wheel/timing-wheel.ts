import type { Instant } from "../time/instant.js";
import { SlotLists } from "./slot-lists.js";

/** Eight bits of a tick choose the slot at each level; seven levels cover every safe integer. */
const levels = 7;
const slotsPerLevel = 256;
const words = (levels * slotsPerLevel) / 32;
/** Ticks that one slot of each level covers. */
const widths = Float64Array.from({ length: levels }, (_, level) => slotsPerLevel ** level);
/** The slot of entries that were already due when they were inserted, in order of tick. */
const overdue = levels * slotsPerLevel;
const none = -1;
/** If the clock steps back by more ticks than this, the wheel steps back too. */
const maxIgnoredTicks = 1_000;

export interface TimingWheelOptions {
  /** The initial position of the wheel; usually now. */
  readonly startMs: Instant;
  /** The resolution, by default 1 ms. A timer is never early, and late by less than a tick. */
  readonly tickMs?: number;
}

/**
 * Hierarchical timing wheel: insert, cancel and advance cost the same however many timers there are.
 *
 * An entry lies at the level of the highest 8-bit digit in which its tick differs from the current one, in the slot of that
 * digit. Hence all at one level come before all at the next, slots of a level ascend, and entries of one tick share one
 * slot in the order of their insertion. When the current tick enters a slot of a higher level, its entries move down.
 */
export class TimingWheel<T> {
  readonly #lists = new SlotLists<T>(overdue + 1);
  readonly #tickMs: number;
  #current: number;
  /** Whether an entry may stand behind a later one in the overdue list. */
  #unsorted = false;

  constructor({ startMs, tickMs = 1 }: TimingWheelOptions) {
    if (!(Number.isInteger(tickMs) && tickMs > 0)) {
      throw new RangeError(`A tick is a whole number of milliseconds, not ${tickMs}.`);
    }
    this.#tickMs = tickMs;
    this.#current = Math.max(0, Math.floor(startMs / tickMs));
  }

  get size(): number {
    return this.#lists.size;
  }

  /** Adds a timer and returns a handle to cancel it. */
  insert(dueMs: Instant, item: T): number {
    const tick = Math.max(0, Math.ceil(dueMs / this.#tickMs));
    if (!(tick <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`A timer is due at an instant, not at ${dueMs}.`);
    // An empty wheel can stand anywhere; stepping back keeps a load of due timers out of the overdue list.
    if (this.#lists.size === 0 && tick < this.#current) this.#current = tick;
    const entry = this.#lists.add(tick, item);
    this.#place(entry, tick);
    return this.#lists.handleOf(entry);
  }

  /** Removes a timer. False if it was already cancelled or due. */
  cancel(handle: number): boolean {
    const entry = this.#lists.entryOf(handle);
    if (entry === none) return false;
    this.#lists.unlink(entry);
    this.#lists.remove(entry);
    return true;
  }

  /**
   * Removes and returns the timers that are due at `nowMs`, at most `max`, ordered by due tick and then by insertion; the
   * remaining ones are first in the next call. A clock that steps back is harmless: no timer is returned early or twice.
   */
  advance(nowMs: Instant, max = Number.POSITIVE_INFINITY): T[] {
    const nowTick = Math.floor(nowMs / this.#tickMs);
    const due: T[] = [];
    this.#sortOverdue();
    this.#take(overdue, nowTick, max, due);
    if (nowTick < this.#current - maxIgnoredTicks && this.#lists.first(overdue) !== none) this.#goBack(nowTick);
    while (due.length < max) {
      const slot = this.#firstSlot();
      const start = slot === none ? Number.POSITIVE_INFINITY : this.#startOf(slot);
      if (!(start <= nowTick)) {
        // No entry is due before now, so every entry keeps its slot when the wheel moves to now.
        if (nowTick > this.#current) this.#current = nowTick;
        break;
      }
      this.#current = start;
      if (slot < slotsPerLevel) this.#take(slot, nowTick, max, due);
      else this.#cascade(slot);
    }
    return due;
  }

  /**
   * When to advance next: never later than the first timer is due, and exactly then if that is within 256 ticks; -1 without
   * timers. An advance at this instant that returns no timer still moves the wheel towards it.
   */
  nextDue(): Instant {
    if (this.#lists.first(overdue) !== none) {
      this.#sortOverdue();
      return this.#tickOf(this.#lists.first(overdue)) * this.#tickMs;
    }
    const slot = this.#firstSlot();
    return slot === none ? -1 : this.#startOf(slot) * this.#tickMs;
  }

  #place(entry: number, tick: number): void {
    if (tick < this.#current) {
      const last = this.#lists.last(overdue);
      if (last !== none && this.#tickOf(last) > tick) this.#unsorted = true;
      this.#lists.append(overdue, entry);
      return;
    }
    let level = 0;
    let digits = tick;
    let above = Math.floor(tick / slotsPerLevel);
    let currentAbove = Math.floor(this.#current / slotsPerLevel);
    while (above !== currentAbove) {
      level++;
      digits = above;
      above = Math.floor(above / slotsPerLevel);
      currentAbove = Math.floor(currentAbove / slotsPerLevel);
    }
    this.#lists.append(level * slotsPerLevel + (digits - above * slotsPerLevel), entry);
  }

  /** The slot of the earliest entries, except overdue ones. */
  #firstSlot(): number {
    const { occupied } = this.#lists;
    for (let index = 0; index < words; index++) {
      const word = occupied[index] ?? 0;
      if (word !== 0) return index * 32 + 31 - Math.clz32(word & -word);
    }
    return none;
  }

  /** The first tick of a slot that lies ahead: the current tick with this digit, and zeros below it. */
  #startOf(slot: number): number {
    const width = widths[slot >>> 8] ?? 1;
    const above = Math.floor(this.#current / (width * slotsPerLevel));
    return (above * slotsPerLevel + (slot & 255)) * width;
  }

  #cascade(slot: number): void {
    const first = this.#lists.first(slot);
    this.#lists.beginAt(slot, none);
    this.#placeAll(first);
  }

  /** Places an entry and those after it again; their slot has been emptied. */
  #placeAll(first: number): void {
    for (let entry = first, next; entry !== none; entry = next) {
      next = this.#lists.after(entry);
      this.#place(entry, this.#tickOf(entry));
    }
  }

  /**
   * Moves the wheel to an earlier tick. Otherwise, after the correction of a clock that was far ahead, each new timer would be
   * overdue for the wheel without being due. Costs one pass over all timers.
   */
  #goBack(tick: number): void {
    const firsts: number[] = [];
    for (const slot of [overdue, ...Array.from({ length: overdue }, (_, index) => index)]) {
      firsts.push(this.#lists.first(slot));
      this.#lists.beginAt(slot, none);
    }
    this.#current = Math.max(0, tick);
    for (const first of firsts) this.#placeAll(first);
  }

  /** Moves entries of one slot, which are in order of tick, from its front to the end of `due`. */
  #take(slot: number, nowTick: number, max: number, due: T[]): void {
    let entry = this.#lists.first(slot);
    while (entry !== none && due.length < max && this.#tickOf(entry) <= nowTick) {
      const next = this.#lists.after(entry);
      due.push(this.#lists.remove(entry));
      entry = next;
    }
    this.#lists.beginAt(slot, entry);
  }

  /** Linear for timers that were inserted in order, as a load from the database does. */
  #sortOverdue(): void {
    if (!this.#unsorted) return;
    this.#unsorted = false;
    const entries: number[] = [];
    for (let entry = this.#lists.first(overdue); entry !== none; entry = this.#lists.after(entry)) entries.push(entry);
    this.#lists.beginAt(overdue, none);
    entries.sort((a, b) => this.#tickOf(a) - this.#tickOf(b));
    for (const entry of entries) this.#lists.append(overdue, entry);
  }

  #tickOf(entry: number): number {
    return this.#lists.ticks[entry] ?? 0;
  }
}
