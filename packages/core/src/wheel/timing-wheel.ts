import type { Instant } from "../time/instant.js";
import { SlotLists } from "./slot-lists.js";

/** Eight bits of a tick choose the slot at each level; seven levels cover every safe integer. */
const levels = 7;
const slotsPerLevel = 256;
const wordsPerLevel = slotsPerLevel / 32;
/** Entries that were already due when they came, in order of tick. */
const overdue = levels * slotsPerLevel;
const none = -1;

export interface TimingWheelOptions {
  /** Where the wheel stands at first; now, usually. */
  readonly startMs: Instant;
  /** The resolution, 1 ms unless said otherwise. Nothing is due early; it may be late by less than a tick. */
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
    if (!(tickMs > 0)) throw new RangeError(`a tick is a positive number of milliseconds, not ${tickMs}`);
    this.#tickMs = tickMs;
    this.#current = Math.max(0, Math.floor(startMs / tickMs));
  }

  get size(): number {
    return this.#lists.size;
  }

  /** Adds a timer and gives the handle to cancel it with. */
  insert(dueMs: Instant, item: T): number {
    const tick = Math.max(0, Math.ceil(dueMs / this.#tickMs));
    if (!(tick <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`a timer is due at an instant, not at ${dueMs}`);
    // An empty wheel can stand anywhere: going back here keeps a load of due timers out of the overdue list.
    if (this.#lists.size === 0 && tick < this.#current) this.#current = tick;
    const entry = this.#lists.add(tick, item);
    this.#place(entry, tick);
    return this.#lists.handleOf(entry);
  }

  /** Takes a timer out. False if it was cancelled or came due before. */
  cancel(handle: number): boolean {
    const entry = this.#lists.entryOf(handle);
    if (entry === none) return false;
    this.#lists.unlink(entry);
    this.#lists.remove(entry);
    return true;
  }

  /**
   * Takes out what is due at `nowMs`, at most `max`, ordered by due tick and then by insertion; what is left over comes
   * first the next time. A clock that went back gives nothing, and does no harm.
   */
  advance(nowMs: Instant, max = Number.POSITIVE_INFINITY): T[] {
    const nowTick = Math.floor(nowMs / this.#tickMs);
    const due: T[] = [];
    this.#takeOverdue(nowTick, max, due);
    while (due.length < max) {
      const slot = this.#firstSlot();
      const start = slot === none ? Number.POSITIVE_INFINITY : this.#startOf(slot);
      if (!(start <= nowTick)) {
        // Nothing lies between here and now, so every entry keeps its place when the wheel moves up to now.
        if (nowTick > this.#current) this.#current = nowTick;
        break;
      }
      this.#current = start;
      if (slot < slotsPerLevel) this.#take(slot, max, due);
      else this.#cascade(slot);
    }
    return due;
  }

  /**
   * When to advance next: never later than the first timer is due, and exactly then if that is within 256 ticks; -1 if
   * there is no timer. An advance at this instant that finds nothing due brings the wheel nearer.
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

  /** The slot whose entries come first, the overdue aside. */
  #firstSlot(): number {
    const { occupied } = this.#lists;
    for (let index = 0; index < levels * wordsPerLevel; index++) {
      const word = occupied[index] ?? 0;
      if (word !== 0) return index * 32 + 31 - Math.clz32(word & -word);
    }
    return none;
  }

  /** The first tick of a slot that lies ahead: the current tick with this digit, and zeros below it. */
  #startOf(slot: number): number {
    const level = Math.floor(slot / slotsPerLevel);
    const width = slotsPerLevel ** level;
    const above = Math.floor(this.#current / width / slotsPerLevel);
    return (above * slotsPerLevel + (slot % slotsPerLevel)) * width;
  }

  #cascade(slot: number): void {
    let entry = this.#lists.detach(slot);
    while (entry !== none) {
      const next = this.#lists.after(entry);
      this.#place(entry, this.#tickOf(entry));
      entry = next;
    }
  }

  #take(slot: number, max: number, due: T[]): void {
    for (let entry = this.#lists.first(slot); entry !== none && due.length < max; entry = this.#lists.first(slot)) {
      this.#lists.unlink(entry);
      due.push(this.#lists.remove(entry));
    }
  }

  #takeOverdue(nowTick: number, max: number, due: T[]): void {
    this.#sortOverdue();
    for (
      let entry = this.#lists.first(overdue);
      entry !== none && due.length < max;
      entry = this.#lists.first(overdue)
    ) {
      if (!(this.#tickOf(entry) <= nowTick)) return;
      this.#lists.unlink(entry);
      due.push(this.#lists.remove(entry));
    }
  }

  /** Linear for timers that came in order, as a load from the database does. */
  #sortOverdue(): void {
    if (!this.#unsorted) return;
    this.#unsorted = false;
    const entries: number[] = [];
    for (let entry = this.#lists.detach(overdue); entry !== none; entry = this.#lists.after(entry)) entries.push(entry);
    entries.sort((a, b) => this.#tickOf(a) - this.#tickOf(b));
    for (const entry of entries) this.#lists.append(overdue, entry);
  }

  #tickOf(entry: number): number {
    return this.#lists.ticks[entry] ?? 0;
  }
}
