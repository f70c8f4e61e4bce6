import {
  CALENDAR_LIMITS,
  CarillonError,
  type CivilDay,
  type DayRange,
  formatCivilDay,
  resolveZone,
  type WallMs,
  type Zone,
} from "@carillon/core";
import ICAL from "ical.js";
import { type ImportedEvent, readEvent, refusal } from "./icalendar-event.js";
import { occurrenceDays } from "./recurrence.js";

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
export const IMPORT_LIMITS = { characters: 2_000_000, events: 10_000, years: 100, daysLookedAt: 1_000_000 } as const;

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
  let left: number = IMPORT_LIMITS.daysLookedAt;
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
