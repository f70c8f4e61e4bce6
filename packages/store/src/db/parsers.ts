import { TypeOverrides } from "pg";

type TextParser = (value: string) => unknown;

/** 2026-11-12 08:30:00.123456+05:30 in any session time zone; seconds in the offset occur before 1900. */
const timestamp =
  /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/**
 * timestamptz as milliseconds since the epoch, rounded down: PostgreSQL keeps microseconds, so what a compare-and-set
 * later matches must have been written in whole milliseconds.
 */
export function parseTimestamp(value: string): number {
  if (value === lastText) return last;
  last = parseUtc(value) ?? parseAnyTimestamp(value);
  lastText = value;
  return last;
}

/** The last one is remembered: runs that were queued together have the same due time in thousands of rows. */
let lastText: string | null = null;
let last = 0;

/** Carillon's sessions use UTC, and the load of a window has hundreds of thousands of instants: 2026-11-12 08:30:00[.123456]+00. */
function parseUtc(value: string): number | null {
  const end = value.length - 3;
  const isUtc = end >= 19 && value.endsWith("+00") && value[4] === "-" && value[10] === " " && value[13] === ":";
  if (!isUtc || (end > 19 && value[19] !== ".")) return null;
  const year = two(value, 0) * 100 + two(value, 2);
  if (!(year >= 100)) return null;
  const day = Date.UTC(year, two(value, 5) - 1, two(value, 8));
  const seconds = two(value, 11) * 3_600 + two(value, 14) * 60 + two(value, 17);
  let ms = 0;
  for (let at = 20, unit = 100; at < end && at < 23; at += 1, unit /= 10) ms += digit(value, at) * unit;
  return day + seconds * 1_000 + ms;
}

function two(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 48;
}

function parseAnyTimestamp(value: string): number {
  if (value === "infinity") return Number.POSITIVE_INFINITY;
  if (value === "-infinity") return Number.NEGATIVE_INFINITY;
  const found = timestamp.exec(value);
  if (found === null)
    throw new TypeError(`not an ISO timestamp with a zone: ${value} (is the session's DateStyle ISO?)`);
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction = "",
    sign,
    zoneHour,
    zoneMinute = "0",
    zoneSecond = "0",
    bc,
  ] = found;
  const local = new Date(0);
  local.setUTCFullYear(bc === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, "0")));
  const offsetMs = (Number(zoneHour) * 3600 + Number(zoneMinute) * 60 + Number(zoneSecond)) * 1000;
  return local.getTime() - (sign === "-" ? -offsetMs : offsetMs);
}

/** int8 as a number. One that a number cannot hold exactly is an error, never a silently different value. */
export function parseBigint(value: string): number {
  const parsed = Number(value);
  if (!Number.isSafeInteger(parsed))
    throw new RangeError(`int8 ${value} does not fit a JavaScript number: cast it to text`);
  return parsed;
}

const asText: TextParser = (value) => value;
/** Arrays of one dimension whose items need no escapes: numbers and timestamps. */
const arrayOf =
  (parse: TextParser): TextParser =>
  (value) =>
    value === "{}"
      ? []
      : value
          .slice(1, -1)
          .split(",")
          .map((item) => (item === "NULL" ? null : parse(item.replaceAll('"', ""))));

/**
 * By type OID: results are read in the same way even if the hosting application changed pg's process-wide parsers. date, timestamp and numeric stay text: pg reads the first two in the host's time zone.
 */
const parsers: readonly (readonly [oid: number, parser: TextParser])[] = [
  [16, (value) => value === "t"],
  [20, parseBigint],
  [21, Number],
  [23, Number],
  [26, Number],
  [114, JSON.parse],
  [700, Number],
  [701, Number],
  [1016, arrayOf(parseBigint)],
  [1082, asText],
  [1114, asText],
  [1184, parseTimestamp],
  [1185, arrayOf(parseTimestamp)],
  [1700, asText],
  [2951, arrayOf(asText)],
  [3802, JSON.parse],
];

/** Passed with every query. The process-wide parsers of pg belong to the application that hosts us and are left alone. */
export const queryTypes = new TypeOverrides();
for (const [oid, parser] of parsers) queryTypes.setTypeParser(oid, "text", parser);
