import { type CivilDay, firstDayOfYear, yearOf } from "../zone/civil.js";

/** One bit per day of a year, bit 0 of word 0 is 1 January. Bits beyond the year's last day mean nothing. */
export type YearBits = Uint32Array;

const YEAR_WORDS = 12;

/** Years in memory at once. A schedule reads neighbouring years, so clearing the map is rare and cheap. */
const MAX_YEARS = 256;

export function setDay(bits: YearBits, index: number): void {
  const word = index >>> 5;
  bits[word] = (bits[word] ?? 0) | (1 << (index & 31));
}

/** Sets the days from..to (both included), clipped to the year that the bits stand for. */
export function setDays(bits: YearBits, year: number, from: CivilDay, to: CivilDay): void {
  const first = firstDayOfYear(year);
  const last = firstDayOfYear(year + 1) - 1;
  for (let day = Math.max(from, first); day <= Math.min(to, last); day += 1) setDay(bits, day - first);
}

/** The lowest set bit at or above `from`, or -1. */
function bitFrom(bits: YearBits, from: number): number {
  let index = from >>> 5;
  let word = (bits[index] ?? 0) & (-1 << (from & 31));
  while (word === 0) {
    index += 1;
    if (index >= YEAR_WORDS) return -1;
    word = bits[index] ?? 0;
  }
  return index * 32 + 31 - Math.clz32(word & -word);
}

/** The highest set bit at or below `upTo`, or -1. */
function bitUpTo(bits: YearBits, upTo: number): number {
  let index = upTo >>> 5;
  let word = (bits[index] ?? 0) & (-1 >>> (31 - (upTo & 31)));
  while (word === 0) {
    index -= 1;
    if (index < 0) return -1;
    word = bits[index] ?? 0;
  }
  return index * 32 + 31 - Math.clz32(word);
}

/** A set of days, built year by year on first use, so that a lookup costs one bit test. */
export class DayBitmaps {
  readonly #years = new Map<number, YearBits>();
  readonly #build: (year: number, bits: YearBits) => void;
  #first: CivilDay = 0;
  #end: CivilDay = 0;
  #bits: YearBits = new Uint32Array(YEAR_WORDS);

  constructor(build: (year: number, bits: YearBits) => void) {
    this.#build = build;
  }

  yearBits(year: number): YearBits {
    const cached = this.#years.get(year);
    if (cached !== undefined) return cached;
    const bits = new Uint32Array(YEAR_WORDS);
    this.#build(year, bits);
    if (this.#years.size >= MAX_YEARS) this.#years.clear();
    this.#years.set(year, bits);
    return bits;
  }

  has(day: CivilDay): boolean {
    this.#turnTo(day);
    const index = day - this.#first;
    return ((this.#bits[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  /** The first member with day <= member <= limit, or null. */
  next(day: CivilDay, limit: CivilDay): CivilDay | null {
    for (let from = day; from <= limit; from = this.#end) {
      this.#turnTo(from);
      const index = bitFrom(this.#bits, from - this.#first);
      const found = this.#first + index;
      if (index >= 0 && found < this.#end) return found <= limit ? found : null;
    }
    return null;
  }

  /** The last member with limit <= member <= day, or null. */
  previous(day: CivilDay, limit: CivilDay): CivilDay | null {
    for (let from = day; from >= limit; from = this.#first - 1) {
      this.#turnTo(from);
      const index = bitUpTo(this.#bits, from - this.#first);
      if (index >= 0) return this.#first + index >= limit ? this.#first + index : null;
    }
    return null;
  }

  #turnTo(day: CivilDay): void {
    if (day >= this.#first && day < this.#end) return;
    const year = yearOf(day);
    this.#bits = this.yearBits(year);
    this.#first = firstDayOfYear(year);
    this.#end = firstDayOfYear(year + 1);
  }
}
