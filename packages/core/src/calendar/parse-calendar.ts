import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import type { Weekday } from "./civil-day.js";
import { parseDateEntry } from "./date-entry.js";
import type { CalendarDefinition, DayRange, DayRule, YearlyRange } from "./definition.js";
import { HOLIDAY_TYPES, type HolidayPlace, type HolidayType } from "./holiday-source.js";

/** Bounds of one calendar; they keep a year's table cheap and an answer readable. */
export const CALENDAR_LIMITS = { rules: 100, dates: 10_000, nameLength: 100 } as const;

export const WEEKDAYS: readonly string[] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const RULE_KEYS = ["weekdays", "dates", "holidays", "icalendar"];
const NAME = /^[a-z0-9][a-z0-9._-]*$/i;

type Report = (pointer: string, detail: string) => void;

export interface ParsedCalendar {
  readonly definition: CalendarDefinition;
  readonly problems: readonly ErrorItem[];
}

/** Reads a calendar's JSON and reports everything that is wrong with it at once; the definition holds what was right. */
export function parseCalendar(value: unknown): ParsedCalendar {
  const problems: ErrorItem[] = [];
  const report: Report = (pointer, detail) => problems.push({ pointer, code: "calendar_invalid", detail });
  if (!isRecord(value)) {
    report("", 'a calendar is an object: {"name": "…", "rules": […]}');
    return { definition: { name: "", rules: [] }, problems };
  }
  refuseUnknown(value, ["name", "rules"], "", report);
  return {
    definition: { name: parseName(value["name"], report), rules: parseRules(value["rules"], report) },
    problems,
  };
}

/** The same, for callers that want a calendar or an error. */
export function readCalendar(value: unknown): CalendarDefinition {
  const { definition, problems } = parseCalendar(value);
  const [first] = problems;
  if (first === undefined) return definition;
  const where = first.pointer === "" ? "the calendar" : first.pointer;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new CarillonError("calendar_invalid", `${where}: ${first.detail}${more}`, { items: problems });
}

function parseName(value: unknown, report: Report): string {
  if (typeof value === "string" && value.length <= CALENDAR_LIMITS.nameLength && NAME.test(value)) return value;
  report(
    "/name",
    `the name is a text of at most ${CALENDAR_LIMITS.nameLength} letters, digits, ".", "_" and "-", such as "de-holidays"`,
  );
  return "";
}

function parseRules(value: unknown, report: Report): DayRule[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > CALENDAR_LIMITS.rules) {
    report("/rules", `rules is a list of 1 to ${CALENDAR_LIMITS.rules} rules, such as [{"weekdays": ["SAT", "SUN"]}]`);
    return [];
  }
  return value.flatMap((rule: unknown, index) => {
    const parsed = parseRule(rule, `/rules/${index}`, report);
    return parsed === null ? [] : [parsed];
  });
}

function parseRule(value: unknown, pointer: string, report: Report): DayRule | null {
  const keys = isRecord(value) ? Object.keys(value) : [];
  const [key] = keys;
  if (!isRecord(value) || key === undefined || keys.length > 1 || !RULE_KEYS.includes(key)) {
    report(pointer, `a rule is an object with exactly one of ${RULE_KEYS.join(", ")}`);
    return null;
  }
  const content = value[key];
  const at = `${pointer}/${key}`;
  switch (key) {
    case "weekdays":
      return { kind: "weekdays", weekdays: parseWeekdays(content, at, report) };
    case "dates":
      return { kind: "dates", ...parseDates(content, at, report) };
    case "holidays":
      return parseHolidays(content, at, report);
    default:
      return parseImported(content, at, report);
  }
}

function parseWeekdays(value: unknown, pointer: string, report: Report): Weekday[] {
  if (!Array.isArray(value) || value.length === 0) {
    report(pointer, 'weekdays is a list such as ["SAT", "SUN"]');
    return [];
  }
  return value.flatMap((entry: unknown, index) => {
    const weekday = typeof entry === "string" ? WEEKDAYS.indexOf(entry.toUpperCase()) : -1;
    if (weekday >= 0) return [weekday as Weekday];
    report(`${pointer}/${index}`, `${JSON.stringify(entry)} is not a weekday: use ${WEEKDAYS.join(", ")}`);
    return [];
  });
}

function parseDates(
  value: unknown,
  pointer: string,
  report: Report,
): { readonly ranges: DayRange[]; readonly yearly: YearlyRange[] } {
  const ranges: DayRange[] = [];
  const yearly: YearlyRange[] = [];
  if (!Array.isArray(value) || value.length === 0 || value.length > CALENDAR_LIMITS.dates) {
    report(pointer, `dates is a list of 1 to ${CALENDAR_LIMITS.dates} dates, such as ["2026-12-24", "12-31"]`);
    return { ranges, yearly };
  }
  value.forEach((entry: unknown, index) => {
    const parsed = parseDateEntry(typeof entry === "string" ? entry : JSON.stringify(entry));
    if (parsed.kind === "problem") report(`${pointer}/${index}`, parsed.detail);
    else if (parsed.kind === "range") ranges.push(parsed.range);
    else yearly.push(parsed.range);
  });
  return { ranges, yearly };
}

function parseHolidays(value: unknown, pointer: string, report: Report): DayRule | null {
  if (!isRecord(value)) {
    report(pointer, 'holidays is an object such as {"country": "DE", "region": "BY"}');
    return null;
  }
  refuseUnknown(value, ["country", "region", "types"], pointer, report);
  const { country, region, types } = value;
  if (typeof country !== "string" || !/^[a-z]{2}$/i.test(country)) {
    report(`${pointer}/country`, 'the country is its two-letter ISO 3166 code, such as "DE"');
    return null;
  }
  if (region !== undefined && (typeof region !== "string" || !/^[a-z0-9]+(-[a-z0-9]+)?$/i.test(region))) {
    report(`${pointer}/region`, 'the region is the code of a subdivision, such as "BY" or, finer, "BY-A"');
    return null;
  }
  const place: HolidayPlace = region === undefined ? { country } : { country, region };
  return { kind: "holidays", place, types: parseTypes(types, `${pointer}/types`, report) };
}

function parseTypes(value: unknown, pointer: string, report: Report): HolidayType[] {
  if (value === undefined) return ["public"];
  const known = (entry: unknown): entry is HolidayType => HOLIDAY_TYPES.some((type) => type === entry);
  if (Array.isArray(value) && value.length > 0 && value.every(known)) return value;
  report(pointer, `types is a list of some of ${HOLIDAY_TYPES.join(", ")}; without it, ["public"]`);
  return [];
}

function parseImported(value: unknown, pointer: string, report: Report): DayRule | null {
  if (!isRecord(value)) {
    report(pointer, 'icalendar is an object such as {"source": "school.ics", "dates": ["2026-02-07/2026-02-22"]}');
    return null;
  }
  refuseUnknown(value, ["source", "dates"], pointer, report);
  const { source = "imported date" } = value;
  if (typeof source !== "string")
    report(`${pointer}/source`, "the source is a text that says where the dates came from");
  const { ranges, yearly } = parseDates(value["dates"], `${pointer}/dates`, report);
  if (yearly.length > 0) report(`${pointer}/dates`, "imported dates carry their year, such as 2026-12-24");
  return { kind: "icalendar", source: String(source), ranges };
}

function refuseUnknown(
  value: Record<string, unknown>,
  known: readonly string[],
  pointer: string,
  report: Report,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(`${pointer}/${key}`, `"${key}" does not exist here: use ${known.join(", ")}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
