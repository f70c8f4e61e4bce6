import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { isObject } from "../json/objects.js";
import { daysInMonth, formatCivilDay, parseCivilDay, type Weekday } from "../zone/civil.js";
import {
  type CalendarDefinition,
  type DayRange,
  type DayRule,
  HOLIDAY_TYPES,
  type HolidayPlace,
  type HolidayType,
  type MonthDay,
  type YearlyRange,
} from "./definition.js";

/** Bounds of one calendar. They keep the table of a year cheap and a response readable. */
export const CALENDAR_LIMITS = { rules: 100, dates: 10_000, nameLength: 100 } as const;

const WEEKDAYS: readonly string[] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const RULE_KEYS = ["weekdays", "dates", "holidays", "icalendar"];
const NAME = /^[a-z0-9][a-z0-9._-]*$/i;

type Report = (pointer: string, detail: string) => void;

export interface ParsedCalendar {
  readonly definition: CalendarDefinition;
  readonly problems: readonly ErrorItem[];
}

/** Reads the JSON of a calendar and reports all problems at once; the definition contains the valid parts. */
export function parseCalendar(value: unknown): ParsedCalendar {
  const problems: ErrorItem[] = [];
  const report: Report = (pointer, detail) => problems.push({ pointer, code: "calendar_invalid", detail });
  if (!isObject(value)) {
    report("", 'A calendar is an object: {"name": "…", "rules": […]}.');
    return { definition: { name: "", rules: [] }, problems };
  }
  refuseUnknown(value, ["name", "rules"], "", report);
  return {
    definition: { name: parseName(value["name"], report), rules: parseRules(value["rules"], report) },
    problems,
  };
}

/** Reads the JSON of a calendar. Throws `calendar_invalid` with all problems. */
export function readCalendar(value: unknown): CalendarDefinition {
  const { definition, problems } = parseCalendar(value);
  const [first] = problems;
  if (first === undefined) return definition;
  const where = first.pointer === "" ? "" : `${first.pointer}: `;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new CarillonError("calendar_invalid", `${where}${first.detail}${more}`, { items: problems });
}

function parseName(value: unknown, report: Report): string {
  if (typeof value === "string" && value.length <= CALENDAR_LIMITS.nameLength && NAME.test(value)) return value;
  report(
    "/name",
    `The name has at most ${CALENDAR_LIMITS.nameLength} letters, digits, ".", "_" and "-", such as "de-holidays".`,
  );
  return "";
}

function parseRules(value: unknown, report: Report): DayRule[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > CALENDAR_LIMITS.rules) {
    report(
      "/rules",
      `Rules are a list of 1 to ${CALENDAR_LIMITS.rules} rules, such as [{"weekdays": ["SAT", "SUN"]}].`,
    );
    return [];
  }
  return value.flatMap((rule: unknown, index) => {
    const parsed = parseRule(rule, `/rules/${index}`, report);
    return parsed === null ? [] : [parsed];
  });
}

function parseRule(value: unknown, pointer: string, report: Report): DayRule | null {
  const keys = isObject(value) ? Object.keys(value) : [];
  const [key] = keys;
  if (isObject(value) && keys.some((name) => !RULE_KEYS.includes(name))) {
    refuseUnknown(value, RULE_KEYS, pointer, report);
    return null;
  }
  if (!isObject(value) || key === undefined || keys.length > 1) {
    report(pointer, `A rule is an object with exactly one of ${RULE_KEYS.join(", ")}.`);
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
  if (!Array.isArray(value) || value.length === 0 || value.length > WEEKDAYS.length) {
    report(pointer, 'Weekdays are a list of 1 to 7 days such as ["SAT", "SUN"].');
    return [];
  }
  return value.flatMap((entry: unknown, index) => {
    const weekday = typeof entry === "string" ? WEEKDAYS.indexOf(entry.toUpperCase()) : -1;
    if (weekday >= 0) return [weekday as Weekday];
    report(`${pointer}/${index}`, `${JSON.stringify(entry)} is not a weekday: use ${WEEKDAYS.join(", ")}.`);
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
    report(pointer, `Dates are a list of 1 to ${CALENDAR_LIMITS.dates} dates, such as ["2026-12-24", "12-31"].`);
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
  if (!isObject(value)) {
    report(pointer, 'Holidays are an object such as {"country": "DE", "region": "BY"}.');
    return null;
  }
  refuseUnknown(value, ["country", "region", "types"], pointer, report);
  const { country, region, types } = value;
  if (typeof country !== "string" || !/^[a-z]{2}$/i.test(country)) {
    report(`${pointer}/country`, 'The country is a two-letter ISO 3166 code, such as "DE".');
    return null;
  }
  if (region !== undefined && (typeof region !== "string" || !/^[a-z0-9]+(-[a-z0-9]+)?$/i.test(region))) {
    report(
      `${pointer}/region`,
      'The region is the code of a subdivision, such as "BY", or of a part of it, such as "BY-A".',
    );
    return null;
  }
  const place: HolidayPlace = region === undefined ? { country } : { country, region };
  return { kind: "holidays", place, types: parseTypes(types, `${pointer}/types`, report) };
}

function parseTypes(value: unknown, pointer: string, report: Report): HolidayType[] {
  if (value === undefined) return ["public"];
  const known = (entry: unknown): entry is HolidayType => HOLIDAY_TYPES.some((type) => type === entry);
  if (Array.isArray(value) && value.length > 0 && value.every(known)) return value;
  report(pointer, `Types are a list of some of ${HOLIDAY_TYPES.join(", ")}; the default is ["public"].`);
  return [];
}

function parseImported(value: unknown, pointer: string, report: Report): DayRule | null {
  if (!isObject(value)) {
    report(
      pointer,
      'An icalendar rule is an object such as {"source": "school.ics", "dates": ["2026-02-07/2026-02-22"]}.',
    );
    return null;
  }
  refuseUnknown(value, ["source", "dates"], pointer, report);
  const { source = "imported date" } = value;
  if (typeof source !== "string")
    report(`${pointer}/source`, "The source is a string that names the origin of the dates.");
  const { ranges, yearly } = parseDates(value["dates"], `${pointer}/dates`, report);
  if (yearly.length > 0) report(`${pointer}/dates`, "Imported dates have a year, such as 2026-12-24.");
  return { kind: "icalendar", source: String(source), ranges };
}

function refuseUnknown(
  value: Record<string, unknown>,
  known: readonly string[],
  pointer: string,
  report: Report,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(`${pointer}/${key}`, `Field "${key}" does not exist; use ${known.join(", ")}.`);
  }
}

type DateEntry =
  | { readonly kind: "range"; readonly range: DayRange }
  | { readonly kind: "yearly"; readonly range: YearlyRange }
  | { readonly kind: "problem"; readonly detail: string };

const EXAMPLES = 'write "2026-12-24", "2026-12-24/2027-01-01" (both included), or "12-24" for every year.';

/** Reads one date of a calendar: a day, a range of days, or either of them for every year. */
function parseDateEntry(text: string): DateEntry {
  const [first = "", second = first, ...rest] = text.trim().split("/");
  if (rest.length > 0) return problem(`Date "${text}" has more than one "/"; ${EXAMPLES}`);
  const yearly = [parseMonthDay(first), parseMonthDay(second)] as const;
  if (yearly[0] !== null && yearly[1] !== null) return { kind: "yearly", range: { from: yearly[0], to: yearly[1] } };
  const from = parseCivilDay(first);
  const to = parseCivilDay(second);
  if (from === null || to === null) return problem(faultOf(from === null ? first : second));
  if (to < from) return problem(`Range "${text}" runs backwards; write the earlier day first.`);
  return { kind: "range", range: { from, to } };
}

function problem(detail: string): DateEntry {
  return { kind: "problem", detail };
}

function faultOf(part: string): string {
  if (/^(\d{4}-)?\d{2}-\d{2}$/.test(part)) {
    return parseMonthDay(part) === null
      ? `Day "${part}" does not exist.`
      : `Date "${part}" has no year, but the other end of the range has one.`;
  }
  return `"${part}" is not a date; ${EXAMPLES}`;
}

function parseMonthDay(text: string): MonthDay | null {
  const match = /^(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return null;
  const [month, day] = [Number(match[1]), Number(match[2])];
  // Checked against a leap year: 29 February exists in some years.
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(2000, month)) return null;
  return { month, day };
}

/** One rule as its author writes it; exactly one member is present. */
export interface CalendarRuleJson {
  readonly weekdays?: string[];
  readonly dates?: string[];
  readonly holidays?: { readonly country: string; readonly region?: string; readonly types: HolidayType[] };
  readonly icalendar?: { readonly source: string; readonly dates: string[] };
}

/** Writes the rules of a calendar in the form that `parseCalendar` reads. */
export function formatCalendarRules({ rules }: CalendarDefinition): CalendarRuleJson[] {
  return rules.map(formatRule);
}

function formatRule(rule: DayRule): CalendarRuleJson {
  switch (rule.kind) {
    case "weekdays":
      return { weekdays: rule.weekdays.map((day) => WEEKDAYS[day] ?? "") };
    case "dates":
      return { dates: [...rule.ranges.map(formatRange), ...rule.yearly.map(formatYearly)] };
    case "holidays":
      return { holidays: { ...rule.place, types: [...rule.types] } };
    default:
      return { icalendar: { source: rule.source, dates: rule.ranges.map(formatRange) } };
  }
}

function formatRange({ from, to }: DayRange): string {
  return from === to ? formatCivilDay(from) : `${formatCivilDay(from)}/${formatCivilDay(to)}`;
}

function formatYearly({ from, to }: YearlyRange): string {
  const [first, last] = [monthDay(from), monthDay(to)];
  return first === last ? first : `${first}/${last}`;
}

function monthDay({ month, day }: MonthDay): string {
  return `${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
