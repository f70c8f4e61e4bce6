import { CarillonError } from "../errors/carillon-error.js";
import { daysInMonth, epochDayOf, SECONDS_PER_DAY } from "../zone/civil.js";
import { resolveZone } from "../zone/zone.js";
import { FIRST_INSTANT, type Instant, LAST_INSTANT } from "./instant.js";

const shape = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|([+-])(\d{2}):?(\d{2}))?$/;
const maxTextLength = 64;

/**
 * Reads an RFC 3339 timestamp: `2026-03-01T09:00:00+01:00`. Without an offset it is a wall time and needs the zone: a skipped
 * time means the first instant after the gap, a repeated one the first pass. Digits below the millisecond are dropped.
 */
export function parseInstant(text: string, zone?: string): Instant {
  const parts = text.length <= maxTextLength ? shape.exec(text) : null;
  if (parts === null) throw refusal(text, problemOf(text));
  const [, year, month, day, hour, minute, second = "0", fraction = "", offset, sign, offsetHour, offsetMinute] = parts;
  const days = dayOf(text, Number(year), Number(month), Number(day));
  const seconds = secondsOf(text, Number(hour), Number(minute), Number(second));
  const wall = (days * 86_400 + seconds) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  if (offset === undefined) {
    if (zone === undefined) throw refusal(text, "has no offset");
    return inRange(text, resolveZone(zone).toInstant(wall));
  }
  if (sign === undefined) return inRange(text, wall);
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) throw refusal(text, `has the invalid offset ${offset}`);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  return inRange(text, sign === "-" ? wall + offsetMs : wall - offsetMs);
}

/** UTC to the millisecond: `2026-03-01T08:00:00.000Z`. */
export function formatInstant(instant: Instant): string {
  if (!(instant >= FIRST_INSTANT && instant <= LAST_INSTANT)) {
    throw new RangeError(`An instant lies in the years 0001 to 9999, not at ${instant}.`);
  }
  return new Date(instant).toISOString();
}

function dayOf(text: string, year: number, month: number, day: number): number {
  if (month < 1 || month > 12) throw refusal(text, `has the invalid month ${month}`);
  if (day < 1 || day > daysInMonth(year, month))
    throw refusal(text, `has the day ${day}, which the month does not have`);
  return epochDayOf(year, month, day);
}

function secondsOf(text: string, hour: number, minute: number, second: number): number {
  if (hour === 24) throw refusal(text, "has the hour 24; midnight is 00:00 of the next day");
  if (hour > 24) throw refusal(text, `has the invalid hour ${hour}`);
  if (minute > 59) throw refusal(text, `has the invalid minute ${minute}`);
  if (second === 60) throw refusal(text, "has a leap second, which is not supported; use 59 or the next minute");
  if (second > 59) throw refusal(text, `has the invalid second ${second}`);
  return (hour * 60 + minute) * 60 + second;
}

function inRange(text: string, instant: Instant): Instant {
  if (instant < FIRST_INSTANT || instant > LAST_INSTANT) throw refusal(text, "lies outside the years 0001 to 9999");
  return instant;
}

function problemOf(text: string): string {
  if (text.length > maxTextLength) return `has more than ${maxTextLength} characters`;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return "has no time";
  if (/^\d{4}-\d{2}-\d{2} /.test(text)) return "has a blank instead of the T";
  if (/^\d+$/.test(text)) return "is a bare number";
  return "cannot be parsed";
}

function refusal(text: string, problem: string): CarillonError {
  const shown = JSON.stringify(text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`);
  const remedy = "write it as 2026-03-01T09:00:00+01:00 or 2026-03-01T08:00:00Z.";
  return new CarillonError("instant_invalid", `The time ${shown} ${problem}; ${remedy}`);
}

const TIMESTAMP =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;

/**
 * Reads an RFC 3339 timestamp such as 2026-03-01T00:00:00Z or 2026-03-01T01:00:00.5+01:00; null for anything else, a
 * date that does not exist and a leap second included. Digits below the millisecond are cut off.
 */
export function parseRfc3339(text: string): Instant | null {
  const match = TIMESTAMP.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const east = (match[8] === "-" ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  const seconds = epochDayOf(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - east;
  return seconds * 1000 + Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
}
