import type { Instant } from "../time/instant.js";
import { daysInMonth, epochDayOf, SECONDS_PER_DAY } from "./civil.js";

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
