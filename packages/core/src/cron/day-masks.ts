import { maskOf } from "./field-mask.js";
import { isUnrestricted, type CronField, type CronFields, type CronPart, type DayMatch } from "./fields.js";

/**
 * The matching days of a month depend only on its length and on the weekday of its first day, so 28 masks cover every
 * month. Bit d-1 of a mask stands for day d.
 */
export type DayMasks = Int32Array;

export function dayMaskIndex(firstWeekday: number, length: number): number {
  return firstWeekday * 4 + length - 28;
}

export function dayMasksOf(fields: CronFields, dayMatch: DayMatch): DayMasks {
  const masks = new Int32Array(28);
  for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
    for (let length = 28; length <= 31; length++) {
      masks[dayMaskIndex(firstWeekday, length)] = dayMask(fields, dayMatch, firstWeekday, length);
    }
  }
  return masks;
}

/** Every pair of month and first weekday occurs within 400 years, in leap years too, so a mask other than 0 fires. */
export function firesEver(month: CronField, masks: DayMasks): boolean {
  const months = maskOf(month);
  for (let index = 0; index < 12; index++) {
    if ((months & (1 << index)) === 0) continue;
    for (const length of lengthsOf(index)) {
      for (let first = 0; first < 7; first++) if (masks[dayMaskIndex(first, length)] !== 0) return true;
    }
  }
  return false;
}

function lengthsOf(monthFromZero: number): readonly number[] {
  if (monthFromZero === 1) return [28, 29];
  return [3, 5, 8, 10].includes(monthFromZero) ? [30] : [31];
}

function dayMask(fields: CronFields, dayMatch: DayMatch, firstWeekday: number, length: number): number {
  const whole = length === 31 ? 0x7fffffff : (1 << length) - 1;
  const byDay = isUnrestricted(fields.dayOfMonth) ? whole : monthDays(fields.dayOfMonth, firstWeekday, length);
  const byWeekday = isUnrestricted(fields.dayOfWeek) ? whole : weekdays(fields.dayOfWeek, firstWeekday, length);
  const either = dayMatch === "or" && !isUnrestricted(fields.dayOfMonth) && !isUnrestricted(fields.dayOfWeek);
  return (either ? byDay | byWeekday : byDay & byWeekday) & whole;
}

function monthDays(field: CronField, firstWeekday: number, length: number): number {
  let mask = maskOf(field);
  for (const part of field.parts) {
    const day = specialDay(part, firstWeekday, length);
    if (day >= 1 && day <= length) mask |= 1 << (day - 1);
  }
  return mask;
}

function weekdays(field: CronField, firstWeekday: number, length: number): number {
  const plain = maskOf(field);
  // Seven bits from the weekday of the first, then the same again: shifting right lines them up with day 1.
  const week = ((plain | (plain << 7)) >>> firstWeekday) & 0x7f;
  let mask = week | (week << 7) | (week << 14) | (week << 21) | ((week & 7) << 28);
  for (const part of field.parts) {
    const day = specialDay(part, firstWeekday, length);
    if (day >= 1 && day <= length) mask |= 1 << (day - 1);
  }
  return mask;
}

/** The day of the month that an L, W or # part names; 0, or a day after the month's end, if this month has none. */
function specialDay(part: CronPart, firstWeekday: number, length: number): number {
  switch (part.kind) {
    case "last_day":
      return length - part.before;
    case "last_workday":
      return part.before >= length ? 0 : nearestWorkday(length - part.before, firstWeekday, length);
    case "nearest_workday":
      return part.day > length ? 0 : nearestWorkday(part.day, firstWeekday, length);
    case "nth_weekday":
      return firstOf(part.weekday, firstWeekday) + 7 * (part.nth - 1);
    case "last_weekday": {
      const first = firstOf(part.weekday, firstWeekday);
      return first + 7 * Math.floor((length - first) / 7);
    }
    default:
      return 0;
  }
}

function firstOf(weekday: number, firstWeekday: number): number {
  return 1 + ((weekday - firstWeekday + 7) % 7);
}

/** Saturday moves to Friday and Sunday to Monday, unless that leaves the month. */
function nearestWorkday(day: number, firstWeekday: number, length: number): number {
  const weekday = (firstWeekday + day - 1) % 7;
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === length ? day - 2 : day + 1;
  return day;
}
