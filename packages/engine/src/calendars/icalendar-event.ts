import { CarillonError, type CivilDay, parseCivilDay, resolveZone, type WallMs } from "@carillon/core";
import ICAL from "ical.js";
import type { RecurrenceRule } from "./recurrence.js";

type Component = InstanceType<typeof ICAL.Component>;
type Time = InstanceType<typeof ICAL.Time>;
type Recur = InstanceType<typeof ICAL.Recur>;

const DAY_MS = 86_400_000;

/** An event, read and checked. Times are readings of the clock that the event is written for. */
export interface ImportedEvent {
  readonly uid: string;
  /** How messages call the event. */
  readonly label: string;
  readonly start: WallMs;
  readonly durationMs: number;
  /** The event is written in UTC: its dates depend on the zone that looks at it. */
  readonly isUtc: boolean;
  readonly isCancelled: boolean;
  readonly rules: readonly RecurrenceRule[];
  readonly extraStarts: readonly WallMs[];
  readonly excludedDays: ReadonlySet<CivilDay>;
  /** The day of the occurrence that this event replaces; null when it is no exception. */
  readonly replacesDay: CivilDay | null;
}

export function readEvent(component: Component, index: number): ImportedEvent {
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

export function refusal(message: string): CarillonError {
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

/** The library moves 30 February to 2 March without a word; what is written must be a date. */
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
