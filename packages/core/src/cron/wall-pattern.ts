import { monthIndexOf, monthStart, SECONDS_PER_DAY, weekdayOf } from "../zone/civil.js";
import { bit60From, bit60UpTo, bitFrom, bits60Below, bitsBelow, bitUpTo } from "./bits.js";
import { dayMaskIndex, type DayMasks } from "./day-masks.js";
import { mask60Of, maskOf } from "./field-mask.js";
import type { CronFields } from "./fields.js";

/** Months of the years 0001 to 9999, the only ones that are searched. */
const FIRST_MONTH = 12;
const LAST_MONTH = 9999 * 12 + 11;
/** The first reading after them. */
const END_READING = monthStart(LAST_MONTH + 1) * SECONDS_PER_DAY;

/**
 * The readings of a wall clock that an expression matches, without any zone. Readings are seconds since 1970-01-01T00:00
 * of that clock. Each search skips from match to match, field by field, and allocates nothing.
 */
export class WallPattern {
  /** How many months the searches have visited so far; tests hold it to a bound. */
  monthsVisited = 0;

  readonly #secondLow: number;
  readonly #secondHigh: number;
  readonly #minuteLow: number;
  readonly #minuteHigh: number;
  readonly #hour: number;
  readonly #month: number;
  readonly #days: DayMasks;
  readonly #firstSecond: number;
  readonly #lastSecond: number;
  /** The first and the last matching minute of an hour, in seconds, with their first and last second. */
  readonly #firstInHour: number;
  readonly #lastInHour: number;
  readonly #firstInDay: number;
  readonly #lastInDay: number;

  constructor(fields: CronFields, days: DayMasks) {
    const second = mask60Of(fields.second);
    const minute = mask60Of(fields.minute);
    this.#secondLow = second.low;
    this.#secondHigh = second.high;
    this.#minuteLow = minute.low;
    this.#minuteHigh = minute.high;
    this.#hour = maskOf(fields.hour);
    this.#month = maskOf(fields.month);
    this.#days = days;
    this.#firstSecond = bit60From(second.low, second.high, 0);
    this.#lastSecond = bit60UpTo(second.low, second.high, 59);
    this.#firstInHour = bit60From(minute.low, minute.high, 0) * 60 + this.#firstSecond;
    this.#lastInHour = bit60UpTo(minute.low, minute.high, 59) * 60 + this.#lastSecond;
    this.#firstInDay = bitFrom(this.#hour, 0) * 3600 + this.#firstInHour;
    this.#lastInDay = bitUpTo(this.#hour, 23) * 3600 + this.#lastInHour;
  }

  /** The first matching reading at or after `reading`; Infinity when the years end before one. */
  from(reading: number): number {
    const today = Math.floor(reading / SECONDS_PER_DAY);
    const time = this.#timeFrom(reading - today * SECONDS_PER_DAY);
    const day = this.#dayFrom(time < 0 ? today + 1 : today);
    return day * SECONDS_PER_DAY + (day === today ? time : this.#firstInDay);
  }

  /** The last matching reading at or before `reading`; -Infinity when the years begin after it. */
  upTo(reading: number): number {
    const today = Math.floor(reading / SECONDS_PER_DAY);
    const time = this.#timeUpTo(reading - today * SECONDS_PER_DAY);
    const day = this.#dayUpTo(time < 0 ? today - 1 : today);
    return day * SECONDS_PER_DAY + (day === today ? time : this.#lastInDay);
  }

  /** How many readings match from `from` on and before `to`. Counts the days of each month, not the times within a day. */
  count(from: number, to: number): number {
    const end = Math.min(to, END_READING);
    if (from >= end) return 0;
    const firstDay = Math.floor(from / SECONDS_PER_DAY);
    const lastDay = Math.floor(end / SECONDS_PER_DAY);
    const before = this.#timesBefore(from - firstDay * SECONDS_PER_DAY);
    const within = this.#timesBefore(end - lastDay * SECONDS_PER_DAY);
    let count = this.#countDays(firstDay, lastDay) * this.#timesBefore(SECONDS_PER_DAY);
    if (before > 0) count -= before * this.#countDays(firstDay, firstDay + 1);
    if (within > 0) count += within * this.#countDays(lastDay, lastDay + 1);
    return count;
  }

  #timesBefore(secondOfDay: number): number {
    const hour = (secondOfDay / 3600) | 0;
    const minute = ((secondOfDay - hour * 3600) / 60) | 0;
    const second = secondOfDay - hour * 3600 - minute * 60;
    const perMinute = bits60Below(this.#secondLow, this.#secondHigh, 60);
    const perHour = bits60Below(this.#minuteLow, this.#minuteHigh, 60) * perMinute;
    let count = bitsBelow(this.#hour, hour) * perHour;
    if ((this.#hour & (1 << hour)) === 0) return count;
    const minutes = bits60Below(this.#minuteLow, this.#minuteHigh, minute);
    count += minutes * perMinute;
    if (bits60Below(this.#minuteLow, this.#minuteHigh, minute + 1) === minutes) return count;
    return count + bits60Below(this.#secondLow, this.#secondHigh, second);
  }

  /** How many days match from `from` on and before `to`. */
  #countDays(from: number, to: number): number {
    let month = monthIndexOf(from);
    let start = monthStart(month);
    let count = 0;
    while (start < to) {
      this.monthsVisited++;
      const after = monthStart(month + 1);
      if ((this.#month & (1 << (month % 12))) !== 0) {
        const mask = this.#maskOf(start, after);
        count += bitsBelow(mask, Math.min(to, after) - start) - bitsBelow(mask, Math.max(from - start, 0));
      }
      month++;
      start = after;
    }
    return count;
  }

  #timeFrom(secondOfDay: number): number {
    const hour = (secondOfDay / 3600) | 0;
    if ((this.#hour & (1 << hour)) !== 0) {
      const secondOfHour = secondOfDay - hour * 3600;
      let minute = (secondOfHour / 60) | 0;
      const found = bit60From(this.#minuteLow, this.#minuteHigh, minute);
      if (found === minute) {
        const second = bit60From(this.#secondLow, this.#secondHigh, secondOfHour - minute * 60);
        if (second >= 0) return hour * 3600 + minute * 60 + second;
        minute = bit60From(this.#minuteLow, this.#minuteHigh, minute + 1);
      } else minute = found;
      if (minute >= 0) return hour * 3600 + minute * 60 + this.#firstSecond;
    }
    const later = bitFrom(this.#hour, hour + 1);
    return later < 0 ? -1 : later * 3600 + this.#firstInHour;
  }

  #timeUpTo(secondOfDay: number): number {
    const hour = (secondOfDay / 3600) | 0;
    if ((this.#hour & (1 << hour)) !== 0) {
      const secondOfHour = secondOfDay - hour * 3600;
      let minute = (secondOfHour / 60) | 0;
      const found = bit60UpTo(this.#minuteLow, this.#minuteHigh, minute);
      if (found === minute) {
        const second = bit60UpTo(this.#secondLow, this.#secondHigh, secondOfHour - minute * 60);
        if (second >= 0) return hour * 3600 + minute * 60 + second;
        minute = minute === 0 ? -1 : bit60UpTo(this.#minuteLow, this.#minuteHigh, minute - 1);
      } else minute = found;
      if (minute >= 0) return hour * 3600 + minute * 60 + this.#lastSecond;
    }
    const earlier = hour === 0 ? -1 : bitUpTo(this.#hour, hour - 1);
    return earlier < 0 ? -1 : earlier * 3600 + this.#lastInHour;
  }

  #dayFrom(day: number): number {
    let month = monthIndexOf(day);
    let start = monthStart(month);
    let skipped = day - start;
    while (month <= LAST_MONTH) {
      this.monthsVisited++;
      const year = (month / 12) | 0;
      const wanted = bitFrom(this.#month, month - year * 12);
      const target = wanted < 0 ? (year + 1) * 12 + bitFrom(this.#month, 0) : year * 12 + wanted;
      if (target !== month) {
        month = target;
        start = monthStart(month);
        skipped = 0;
      }
      const after = monthStart(month + 1);
      const found = bitFrom(this.#maskOf(start, after), skipped);
      if (found >= 0) return start + found;
      month++;
      start = after;
      skipped = 0;
    }
    return Infinity;
  }

  #dayUpTo(day: number): number {
    let month = monthIndexOf(day);
    let last = day - monthStart(month);
    while (month >= FIRST_MONTH) {
      this.monthsVisited++;
      const year = (month / 12) | 0;
      const wanted = bitUpTo(this.#month, month - year * 12);
      const target = wanted < 0 ? (year - 1) * 12 + bitUpTo(this.#month, 11) : year * 12 + wanted;
      if (target !== month) {
        month = target;
        last = 30;
      }
      const start = monthStart(month);
      const found = bitUpTo(this.#maskOf(start, monthStart(month + 1)), last);
      if (found >= 0) return start + found;
      month--;
      last = 30;
    }
    return -Infinity;
  }

  #maskOf(start: number, after: number): number {
    return this.#days[dayMaskIndex(weekdayOf(start), after - start)] ?? 0;
  }
}
