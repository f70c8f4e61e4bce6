import {
  CALENDAR_LIMITS,
  CarillonError,
  type CivilDay,
  type DayRange,
  type WallMs,
  type Zone,
  formatCivilDay,
  parseCivilDay,
  resolveZone,
} from "@carillon/core";
import ICAL from "ical.js";
import { type RecurrenceRule, occurrenceDays } from "./recurrence.js";

export interface ImportOptions {
  /** Days outside from..to are left out: recurring events may have no end. */
  readonly from: CivilDay;
  readonly to: CivilDay;
  /** In which zone events that are written in UTC fall on a date; the others keep the date that is written. */
  readonly timeZone: string;
}

/** What was read. `dates` is what a calendar's `icalendar` rule takes. */
export interface ImportedDates {
  readonly dates: readonly string[];
  readonly ranges: readonly DayRange[];
  readonly events: number;
}

/** An import ends with a clear error before it takes much memory or time. */
export const IMPORT_LIMITS = { characters: 2_000_000, events: 10_000, years: 100, daysChecked: 1_000_000 } as const;

const DAY_MS = 86_400_000;

/**
 * The days that the events of an iCalendar file touch. All-day events take their days, timed ones every day of which
 * they take a part; cancelled ones take none; recurring ones are expanded within the range.
 */
export function importICalendar(text: string, options: ImportOptions): ImportedDates {
  checkRange(text, options);
  const zone = resolveZone(options.timeZone);
  const events = parseEvents(text);
  const starts = startsFinder(events, options);
  const touched = events.flatMap((event) => starts(event).map((start) => daysOf(start, event, zone)));
  const ranges = mergeRanges(
    touched
      .filter((range) => range.to >= options.from && range.from <= options.to)
      .map((range) => ({ from: Math.max(range.from, options.from), to: Math.min(range.to, options.to) })),
  );
  if (ranges.length > CALENDAR_LIMITS.dates) {
    throw refusal(`the file holds ${ranges.length} dates in the range; a calendar takes ${CALENDAR_LIMITS.dates}`);
  }
  return { ranges, events: events.length, dates: ranges.map(formatRange) };
}

function checkRange(text: string, { from, to }: ImportOptions): void {
  if (text.length > IMPORT_LIMITS.characters) {
    throw refusal(`the file has ${text.length} characters; the most is ${IMPORT_LIMITS.characters}`);
  }
  if (!(from <= to) || to - from > IMPORT_LIMITS.years * 366) {
    throw refusal(`the range to import is from an earlier to a later day, at most ${IMPORT_LIMITS.years} years`);
  }
}

function parseEvents(text: string): ImportedEvent[] {
  const components = parseComponents(text.replace(/^\uFEFF/, ""))
    .filter((component) => component.name === "vcalendar")
    .flatMap((calendar) => calendar.getAllSubcomponents("vevent"));
  if (components.length > IMPORT_LIMITS.events) {
    throw refusal(`the file has ${components.length} events; the most is ${IMPORT_LIMITS.events}`);
  }
  if (components.length === 0) {
    throw refusal("the file has no events: an iCalendar file has a VCALENDAR with VEVENTs in it");
  }
  return components.map((component, index) => readable(() => readEvent(component, index)));
}

function parseComponents(text: string): InstanceType<typeof ICAL.Component>[] {
  const parsed = readable((): unknown => ICAL.parse(text));
  if (!Array.isArray(parsed)) return [];
  // A file with one component parses to it, a file with several to a list of them.
  const all: unknown[] = typeof parsed[0] === "string" ? [parsed] : parsed;
  return all.flatMap((one) => (Array.isArray(one) ? [new ICAL.Component(one)] : []));
}

/** The library throws plain errors for what it cannot read; a user sees one kind of error. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CarillonError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CarillonError("icalendar_invalid", `the file is not iCalendar: ${reason}`, { cause: error });
  }
}

/**
 * When an event's occurrences begin on its own clock. The first one counts even if no rule names it; those that are
 * excluded, or that another event of the file replaces (RECURRENCE-ID), do not. All events share one budget.
 */
function startsFinder(
  events: readonly ImportedEvent[],
  { from, to }: ImportOptions,
): (event: ImportedEvent) => WallMs[] {
  const replaced = new Set(events.map(({ uid, replacesDay }) => `${replacesDay} ${uid}`));
  let left: number = IMPORT_LIMITS.daysChecked;
  return (event) => {
    if (event.isCancelled) return [];
    const first = Math.floor(event.start / DAY_MS);
    const time = event.start - first * DAY_MS;
    const spend = (days: number) => {
      left -= days;
      if (left < 0) throw refusal(`${event.label} and those before it recur too often: import a shorter range`);
    };
    // A day more at both ends: an event in UTC can fall on a neighbouring day elsewhere.
    const earliest = from - Math.ceil(event.durationMs / DAY_MS) - 1;
    const starts = [event.start, ...event.extraStarts];
    for (const rule of event.rules) {
      for (const day of occurrenceDays(rule, first, to + 1, spend))
        if (day >= earliest) starts.push(day * DAY_MS + time);
    }
    return starts.filter((start) => {
      const day = Math.floor(start / DAY_MS);
      return !event.excludedDays.has(day) && (event.replacesDay !== null || !replaced.has(`${day} ${event.uid}`));
    });
  };
}

function daysOf(start: WallMs, event: ImportedEvent, zone: Zone): DayRange {
  // The end is the first moment that no longer belongs to the event.
  const last = start + Math.max(event.durationMs - 1, 0);
  const local = event.isUtc ? (wall: WallMs) => zone.toWall(wall) : (wall: WallMs) => wall;
  return { from: Math.floor(local(start) / DAY_MS), to: Math.floor(local(last) / DAY_MS) };
}

function mergeRanges(ranges: readonly DayRange[]): DayRange[] {
  const merged: DayRange[] = [];
  for (const range of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last !== undefined && range.from <= last.to + 1) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    } else merged.push(range);
  }
  return merged;
}

function formatRange({ from, to }: DayRange): string {
  return from === to ? formatCivilDay(from) : `${formatCivilDay(from)}/${formatCivilDay(to)}`;
}

type Component = InstanceType<typeof ICAL.Component>;
type Time = InstanceType<typeof ICAL.Time>;
type Recur = InstanceType<typeof ICAL.Recur>;

/** An event, read and checked. Times are readings of the clock that the event is written for. */
export interface ImportedEvent {
  readonly uid: string;
  /** How messages call the event. */
  readonly label: string;
  readonly start: WallMs;
  readonly durationMs: number;
  /** The event is written in UTC: its dates depend on the zone in which they are read. */
  readonly isUtc: boolean;
  readonly isCancelled: boolean;
  readonly rules: readonly RecurrenceRule[];
  readonly extraStarts: readonly WallMs[];
  readonly excludedDays: ReadonlySet<CivilDay>;
  /** The day of the occurrence that this event replaces; null when it is no exception. */
  readonly replacesDay: CivilDay | null;
}

function readEvent(component: Component, index: number): ImportedEvent {
  const uid = textOf(component, "uid") ?? `#${index}`;
  const label = `event ${index + 1} (${textOf(component, "summary") ?? uid})`;
  checkDates(component, label);
  const start = timeOf(component, "dtstart");
  if (start === null) throw refusal(`${label} has no DTSTART that is a date: an event needs one`);
  const startWall = wallOf(start);
  const replaces = timeOf(component, "recurrence-id");
  return {
    uid,
    label,
    start: startWall,
    durationMs: durationOf(component, start, startWall, label),
    isUtc: isUtc(start),
    isCancelled: textOf(component, "status")?.toUpperCase() === "CANCELLED",
    rules: component
      .getAllProperties("rrule")
      .map((property) => ruleOf(property.getFirstValue(), component, startWall, label)),
    extraStarts: timesOf(component, "rdate").map((time) => wallOf(time)),
    excludedDays: new Set(timesOf(component, "exdate").map((time) => dayOf(wallOf(time)))),
    replacesDay: replaces === null ? null : dayOf(wallOf(replaces)),
  };
}

function refusal(message: string): CarillonError {
  return new CarillonError("icalendar_invalid", message);
}

function textOf(component: Component, name: string): string | null {
  const value: unknown = component.getFirstPropertyValue(name);
  return typeof value === "string" && value !== "" ? value.slice(0, 100) : null;
}

function timeOf(component: Component, name: string): Time | null {
  const value: unknown = component.getFirstPropertyValue(name);
  return value instanceof ICAL.Time ? value : null;
}

function timesOf(component: Component, name: string): Time[] {
  return component.getAllProperties(name).flatMap((property) =>
    property.getValues().flatMap((value: unknown) => {
      if (value instanceof ICAL.Time) return [value];
      return value instanceof ICAL.Period ? [value.start] : [];
    }),
  );
}

function wallOf({ year, month, day, hour, minute, second }: Time): WallMs {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The library silently moves 30 February to 2 March: a date in the file must exist. */
function checkDates(component: Component, label: string): void {
  for (const name of ["dtstart", "dtend", "recurrence-id", "exdate", "rdate"]) {
    for (const property of component.getAllProperties(name)) {
      for (const written of property.toJSON().slice(3).flat()) {
        if (typeof written === "string" && parseCivilDay(written.slice(0, 10)) === null) {
          throw refusal(`${label} has a date that does not exist: ${name.toUpperCase()} ${written.slice(0, 40)}`);
        }
      }
    }
  }
}

function dayOf(wall: WallMs): CivilDay {
  return Math.floor(wall / DAY_MS);
}

function isUtc(time: Time): boolean {
  return time.zone?.tzid === "UTC" || time.zone?.tzid === "Z";
}

/** Without an end, an event of a date takes that day and one of a time takes its instant. */
function durationOf(component: Component, start: Time, startWall: WallMs, label: string): number {
  const end = timeOf(component, "dtend");
  const duration: unknown = component.getFirstPropertyValue("duration");
  let durationMs = start.isDate ? DAY_MS : 0;
  if (end !== null) durationMs = wallOf(end) - startWall;
  else if (duration instanceof ICAL.Duration) durationMs = duration.toSeconds() * 1000;
  if (durationMs < 0) throw refusal(`${label} ends before it begins`);
  return start.isDate ? Math.max(durationMs, DAY_MS) : durationMs;
}

const FREQUENCIES = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
const LARGEST_INTERVAL = 10_000;
/** More than the days of a year, which is the longest list that says anything. */
const LONGEST_LIST = 400;
const WEEKDAY_CODES = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

function ruleOf(value: unknown, component: Component, start: WallMs, label: string): RecurrenceRule {
  if (!(value instanceof ICAL.Recur)) throw refusal(`${label} has an RRULE that cannot be read`);
  const frequency = FREQUENCIES.find((one) => one === value.freq);
  if (frequency === undefined) {
    throw refusal(`${label} recurs ${value.freq}: a calendar of days takes ${FREQUENCIES.join(", ")}`);
  }
  for (const part of ["BYHOUR", "BYMINUTE", "BYSECOND"] as const) {
    if ((value.parts[part]?.length ?? 0) > 1) throw refusal(`${label} has several times a day (${part}): give one`);
  }
  if (Object.values(value.parts).some((list) => (list?.length ?? 0) > LONGEST_LIST)) {
    throw refusal(`${label} has a recurrence rule with a list of more than ${LONGEST_LIST} entries`);
  }
  if (!(value.interval <= LARGEST_INTERVAL)) throw refusal(`${label} has an INTERVAL above ${LARGEST_INTERVAL}`);
  return {
    frequency,
    interval: Math.max(1, value.interval),
    count: value.count ?? null,
    untilDay: value.until === null ? null : lastDayOf(value.until, component, start),
    weekStart: value.wkst - 1,
    months: value.parts.BYMONTH ?? [],
    weekNumbers: value.parts.BYWEEKNO ?? [],
    yearDays: value.parts.BYYEARDAY ?? [],
    monthDays: value.parts.BYMONTHDAY ?? [],
    weekdays: weekdaysOf(value),
    positions: value.parts.BYSETPOS ?? [],
  };
}

function weekdaysOf(rule: Recur): RecurrenceRule["weekdays"] {
  return (rule.parts.BYDAY ?? []).map((text) => ({
    weekday: WEEKDAY_CODES.indexOf(text.slice(-2)),
    nth: Number.parseInt(text, 10) || 0,
  }));
}

/** The last day on which an occurrence may begin: UNTIL is an instant, the event's clock says which day it falls on. */
function lastDayOf(until: Time, component: Component, start: WallMs): CivilDay {
  const wall = wallOf(until);
  if (until.isDate) return dayOf(wall);
  const local = isUtc(until) ? (zoneOf(component)?.toWall(wall) ?? wall) : wall;
  return dayOf(local - (start - dayOf(start) * DAY_MS));
}

/** The IANA zone that the event is written for; null when it is UTC, floating, or of a zone with another name. */
function zoneOf(component: Component): ReturnType<typeof resolveZone> | null {
  const name: unknown = component.getFirstProperty("dtstart")?.getParameter("tzid");
  if (typeof name !== "string") return null;
  try {
    return resolveZone(name);
  } catch (error) {
    if (error instanceof CarillonError) return null;
    throw error;
  }
}
