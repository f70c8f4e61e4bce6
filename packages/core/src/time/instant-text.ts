import { CarillonError } from "../errors/carillon-error.js";
import { daysInMonth, epochDayOf } from "../zone/civil.js";
import { FIRST_INSTANT, LAST_INSTANT } from "../zone/instant-range.js";
import { resolveZone } from "../zone/resolve-zone.js";
import type { Instant } from "./instant.js";

const shape = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|([+-])(\d{2}):?(\d{2}))?$/;
const longestText = 64;

/**
 * Reads an instant of RFC 3339: `2026-03-01T09:00:00+01:00`. Without an offset it is a wall time and needs the zone: one
 * that a clock change skips is the first instant after the gap, one that it repeats the first pass. Digits below the
 * millisecond are dropped.
 */
export function parseInstant(text: string, zone?: string): Instant {
  const parts = text.length <= longestText ? shape.exec(text) : null;
  if (parts === null) throw refusal(text, faultOf(text));
  const [, year, month, day, hour, minute, second = "0", fraction = "", offset, sign, offsetHour, offsetMinute] = parts;
  const days = dayOf(text, Number(year), Number(month), Number(day));
  const seconds = secondsOf(text, Number(hour), Number(minute), Number(second));
  const wall = (days * 86_400 + seconds) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  if (offset === undefined) {
    if (zone === undefined) throw refusal(text, "has no offset");
    return inRange(text, resolveZone(zone).toInstant(wall));
  }
  if (sign === undefined) return inRange(text, wall);
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59)
    throw refusal(text, `has the offset ${offset}, which is none`);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  return inRange(text, sign === "-" ? wall + offsetMs : wall - offsetMs);
}

/** UTC to the millisecond: `2026-03-01T08:00:00.000Z`. */
export function formatInstant(instant: Instant): string {
  if (!(instant >= FIRST_INSTANT && instant <= LAST_INSTANT)) {
    throw new RangeError(`an instant lies in the years 0001 to 9999, not at ${instant}`);
  }
  return new Date(instant).toISOString();
}

function dayOf(text: string, year: number, month: number, day: number): number {
  if (month < 1 || month > 12) throw refusal(text, `has the month ${month}, which is none`);
  if (day < 1 || day > daysInMonth(year, month)) throw refusal(text, `has the day ${day}, which that month has not`);
  return epochDayOf(year, month, day);
}

function secondsOf(text: string, hour: number, minute: number, second: number): number {
  if (hour === 24) throw refusal(text, "has the hour 24; midnight is 00:00 of the next day");
  if (hour > 24) throw refusal(text, `has the hour ${hour}, which is none`);
  if (minute > 59) throw refusal(text, `has the minute ${minute}, which is none`);
  if (second === 60)
    throw refusal(text, "has a leap second, which clocks here do not count; use 59 or the next minute");
  if (second > 59) throw refusal(text, `has the second ${second}, which is none`);
  return (hour * 60 + minute) * 60 + second;
}

function inRange(text: string, instant: Instant): Instant {
  if (instant < FIRST_INSTANT || instant > LAST_INSTANT) throw refusal(text, "lies outside the years 0001 to 9999");
  return instant;
}

function faultOf(text: string): string {
  if (text.length > longestText) return `has more than ${longestText} characters`;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return "has no time";
  if (/^\d{4}-\d{2}-\d{2} /.test(text)) return "has a blank where the T must be";
  if (/^\d+$/.test(text)) return "is a bare number";
  return "cannot be read";
}

function refusal(text: string, fault: string): CarillonError {
  const shown = JSON.stringify(text.length <= longestText ? text : `${text.slice(0, longestText)}…`);
  const right = "write it as 2026-03-01T09:00:00+01:00 or 2026-03-01T08:00:00Z";
  return new CarillonError("instant_invalid", `the time ${shown} ${fault}; ${right}`);
}
