import * as fc from "fast-check";
import { resolveZone } from "../../../src/index.js";

/** Zones with all kinds of clock changes: none, northern, southern, half-hour, midnight, Ramadan, across the date line. */
export const zones = [
  "UTC",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/Johannesburg",
  "Africa/Khartoum",
  "Africa/Windhoek",
  "America/Anchorage",
  "America/Argentina/Buenos_Aires",
  "America/Asuncion",
  "America/Bogota",
  "America/Caracas",
  "America/Chicago",
  "America/Denver",
  "America/Goose_Bay",
  "America/Halifax",
  "America/Havana",
  "America/Los_Angeles",
  "America/Mexico_City",
  "America/New_York",
  "America/Nuuk",
  "America/Phoenix",
  "America/Santiago",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Antarctica/Casey",
  "Antarctica/Troll",
  "Asia/Amman",
  "Asia/Beirut",
  "Asia/Dhaka",
  "Asia/Gaza",
  "Asia/Jerusalem",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Pyongyang",
  "Asia/Shanghai",
  "Asia/Tehran",
  "Asia/Tokyo",
  "Asia/Ulaanbaatar",
  "Atlantic/Azores",
  "Australia/Adelaide",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "Europe/Berlin",
  "Europe/Dublin",
  "Europe/Istanbul",
  "Europe/London",
  "Europe/Moscow",
  "Pacific/Apia",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Easter",
  "Pacific/Fakaofo",
  "Pacific/Fiji",
  "Pacific/Kiritimati",
  "Pacific/Norfolk",
] as const;

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const uniqueList = (part: fc.Arbitrary<string>) =>
  fc.uniqueArray(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(","));

function plainPart(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const spelt = (number: number, byName: boolean) => (byName && names[number - min]) || String(number);
  const pair = fc.tuple(value, value, fc.boolean()).map(([a, b, byName]) => {
    const [from, to] = a < b ? [a, b] : [b, a];
    return `${spelt(from, byName)}-${spelt(to, byName)}`;
  });
  const step = fc.integer({ min: 1, max: Math.min(max - min + 1, max === 7 ? 7 : 60) });
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(value, fc.boolean()).map(([number, byName]) => spelt(number, byName)) },
    { weight: 2, arbitrary: pair },
    { weight: 1, arbitrary: fc.tuple(pair, step).map(([range, by]) => `${range}/${by}`) },
  );
}

const wildcard = (size: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant("*") },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: size }).map((step) => `*/${step}`) },
  );

const startStep = (min: number, max: number) =>
  fc.tuple(fc.integer({ min, max }), fc.integer({ min: 1, max: max - min })).map(([from, step]) => `${from}/${step}`);

const plainField = (min: number, max: number, names?: readonly string[]) =>
  fc.oneof(
    { weight: 2, arbitrary: uniqueList(plainPart(min, max, names)) },
    { weight: 1, arbitrary: wildcard(max - min + 1) },
  );

const weekday = fc.oneof(fc.integer({ min: 0, max: 7 }).map(String), fc.constantFrom(...WEEKDAYS));
const nthWeekday = fc.tuple(weekday, fc.integer({ min: 1, max: 5 })).map(([day, nth]) => `${day}#${nth}`);
const lastWeekday = weekday.map((day) => `${day}L`);
const weekdayRange = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 7 }), fc.boolean())
  .map(([from, to, byName]) => {
    const ends = [Math.min(from, to), Math.max(from, to)];
    return ends.map((day) => (byName ? WEEKDAYS[day % 7] : String(day))).join("-");
  });
const nthRange = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
  .map(([first, last]) => `${Math.min(first, last)}-${Math.max(first, last)}`);
const weekdaysOfMonth = fc
  .tuple(
    fc.oneof(weekday, weekdayRange),
    fc.oneof(
      nthRange.map((nth) => `#${nth}`),
      fc.constantFrom("#1", "#5", "#L", "L"),
    ),
  )
  .map((ends) => ends.join(""));

const monthDayPart = fc.oneof(
  { weight: 6, arbitrary: plainPart(1, 31) },
  { weight: 1, arbitrary: startStep(1, 31) },
  { weight: 1, arbitrary: fc.constantFrom("L", "LW", "l", "lw") },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }).map((before) => `L-${before}`) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }).map((before) => `L-${before}W`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`) },
);
const weekdayPart = fc.oneof(
  { weight: 6, arbitrary: plainPart(0, 7, WEEKDAYS) },
  { weight: 1, arbitrary: startStep(0, 7) },
  { weight: 1, arbitrary: nthWeekday },
  { weight: 1, arbitrary: lastWeekday },
  { weight: 1, arbitrary: weekdaysOfMonth },
);
/** Fires at midnight of the days that L, W and # forms name, in one of the day fields. */
export const daysOfMonthExpressions = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((before) => `0 0 L-${before}W * *`),
  fc.uniqueArray(weekdaysOfMonth, { minLength: 1, maxLength: 2 }).map((parts) => `0 0 * * ${parts.join(",")}`),
);
const free = fc.constantFrom("*", "*", "?");
const monthDayField = fc.oneof(free, uniqueList(monthDayPart), wildcard(31));
const weekdayField = fc.oneof(free, uniqueList(weekdayPart), wildcard(7));
const timeField = (max: number) => fc.oneof(plainField(0, max), startStep(0, max));

const join = (fields: readonly string[]) => fields.join(" ");
const days = fc.tuple(monthDayField, plainField(1, 12, MONTHS), weekdayField).map(join);

/** The whole dialect, five fields. Some of it can never fire. */
export const minuteExpressions = fc.tuple(timeField(59), timeField(23), days).map(join);
/** The whole dialect, six fields. */
export const secondExpressions = fc.tuple(timeField(59), timeField(59), timeField(23), days).map(join);
/** Daily expressions, so that a short range has fires. */
export const dailyExpressions = fc
  .tuple(timeField(59), timeField(23))
  .map(([minute, hour]) => `${minute} ${hour} * * *`);
const macros = fc.constantFrom("@yearly", "@monthly", "@weekly", "@daily", "@hourly", " @Midnight ");
export const expressions = fc.oneof(
  { weight: 6, arbitrary: minuteExpressions },
  { weight: 3, arbitrary: secondExpressions },
  { weight: 1, arbitrary: macros },
);

/** The forms that both peers read: no W, no L-n, no range with # or L, no step after a single number, and no value twice in a list. */
function peerField(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const values = fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 });
  const list = values.map((found) => found.sort((a, b) => a - b).join(","));
  return fc.oneof(
    { weight: 3, arbitrary: list },
    { weight: 2, arbitrary: plainPart(min, max, names) },
    { weight: 2, arbitrary: wildcard(max - min + 1) },
  );
}
const peerMonthDay = fc.oneof(free, free, peerField(1, 31), fc.constant("L"));
const peerWeekday = fc.oneof(
  free,
  free,
  peerField(0, 6, WEEKDAYS),
  nthWeekday,
  lastWeekday,
  fc.constantFrom("7", "5-7", "1-7/2"),
);
const peerMonth = fc.oneof(fc.constant("*"), peerField(1, 12, MONTHS));
const peerDays = fc.tuple(peerMonthDay, peerMonth, peerWeekday).map(join);
export const peerExpressions = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(peerField(0, 59), peerField(0, 23), peerDays).map(join) },
  { weight: 1, arbitrary: fc.tuple(peerField(0, 59), peerField(0, 59), peerField(0, 23), peerDays).map(join) },
);

const FROM = Date.UTC(2000, 0, 1);
const TO = Date.UTC(2060, 0, 1);

const zoneNames = fc.constantFrom(...zones);

/** Instants from 2000 to 2060, in half of the cases within two days of a clock change. */
export function instantsIn(timeZone: string): fc.Arbitrary<number> {
  const anywhere = fc.integer({ min: FROM, max: TO });
  const nearChange = fc.tuple(anywhere, fc.integer({ min: -172_800_000, max: 172_800_000 })).map(([instant, away]) => {
    const change = resolveZone(timeZone).spanAt(Math.floor(instant / 1000)).end;
    return Number.isFinite(change) && change * 1000 < TO ? change * 1000 + away : instant + away;
  });
  return fc.oneof(anywhere, nearChange);
}

export const zonedInstants = zoneNames.chain((timeZone) =>
  instantsIn(timeZone).map((instant) => ({ timeZone, instant })),
);

export const dstPolicies = fc.record(
  {
    gap: fc.constantFrom("after" as const, "skip" as const),
    overlap: fc.constantFrom("first" as const, "second" as const, "both" as const),
  },
  { requiredKeys: [] },
);
export const dayMatches = fc.constantFrom("or" as const, "and" as const);
