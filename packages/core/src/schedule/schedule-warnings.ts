import { compileOpenDays } from "../calendar/open-days.js";
import { unknownHolidays } from "../calendar/unknown-holidays.js";
import { compileCron, type CompiledCron } from "../cron/compile.js";
import { isFixedTime, isUnrestricted } from "../cron/fields.js";
import { wallText } from "../cron/wall-text.js";
import { shapeOf } from "../describe/describe-cron.js";
import { durationInWords } from "../describe/phrases.js";
import { type Instant, NEVER } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { OffsetSpan } from "../zone/zone-offsets.js";
import { compileSchedule, type ScheduleContext } from "./compile-schedule.js";
import { SEARCH_YEARS } from "./open-day-fires.js";
import { smallestCronInterval } from "./smallest-interval.js";
import type { CronSchedule, EverySchedule, ScheduleSpec } from "./spec.js";

/** Something that is allowed and probably not intended. */
export interface ScheduleWarning {
  readonly code:
    | "never_fires"
    | "first_fire_far"
    | "ends_in_past"
    | "calendar_removes_all"
    | "holidays_unknown"
    | "clock_change"
    | "both_day_fields"
    | "on_the_hour"
    | "jitter_near_interval";
  readonly message: string;
  /** The instant that the warning is about, where there is one. */
  readonly at?: Instant;
}

const YEAR_MS = 366 * 86_400_000;
const FAR_YEARS = 2;

/** `until` is the last instant that the caller is shown; the warnings are about at least a year. */
export function scheduleWarnings(
  spec: ScheduleSpec,
  context: ScheduleContext,
  from: Instant,
  until: Instant = from,
): ScheduleWarning[] {
  if (spec.kind === "manual" || spec.kind === "after") return [];
  if (spec.kind === "at") {
    return spec.at > from ? [] : [{ code: "ends_in_past", message: "The instant is in the past.", at: spec.at }];
  }
  const shape = spec.kind === "cron" ? cronWarnings(spec, context, from) : [];
  const holidays = holidayWarnings(spec, context, { from, until });
  return [...firstFireWarnings(spec, context, from), ...holidays, ...jitterWarnings(spec), ...shape];
}

/** Warns if a calendar of the schedule lacks the holidays of a shown year, or of the year of the first fire. */
function holidayWarnings(
  spec: CronSchedule | EverySchedule,
  context: ScheduleContext,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): ScheduleWarning[] {
  const { exclude = [], only = [] } = spec.calendars ?? {};
  const named = [...exclude, ...only].flatMap((name) => context.calendars?.get(name) ?? []);
  if (named.every(({ knownYears }) => knownYears === null)) return [];
  const first = compileSchedule(spec, { ...context, checked: true }).nextNominal(from);
  const unknown = unknownHolidays(named, from, Math.max(from + YEAR_MS, until, first === NEVER ? from : first));
  return unknown === null ? [] : [{ code: "holidays_unknown", ...unknown }];
}

/** Warns if the schedule has no fire, or none soon. */
function firstFireWarnings(
  spec: CronSchedule | EverySchedule,
  context: ScheduleContext,
  from: Instant,
): ScheduleWarning[] {
  if (spec.endsAt !== undefined && spec.endsAt <= from) {
    return [
      {
        code: "ends_in_past",
        message: "Field ends_at is in the past, so the schedule never fires again.",
        at: spec.endsAt,
      },
    ];
  }
  const first = compileSchedule(spec, { ...context, checked: true }).nextNominal(from);
  if (first !== NEVER) {
    if (first <= from + FAR_YEARS * YEAR_MS) return [];
    const date = new Date(first).toISOString().slice(0, 10);
    return [
      {
        code: "first_fire_far",
        message: `The first fire is on ${date}, more than ${FAR_YEARS} years away.`,
        at: first,
      },
    ];
  }
  const { calendars, ...withoutCalendars } = spec;
  const byRule = compileSchedule(withoutCalendars, { ...context, checked: true }).nextNominal(from);
  if (calendars !== undefined && byRule !== NEVER) {
    const message = `The calendars remove every fire of the next ${SEARCH_YEARS} years, or up to ends_at.`;
    return [{ code: "calendar_removes_all", message }];
  }
  return [{ code: "never_fires", message: "The schedule has no fire between starts_at and ends_at, or ever." }];
}

function jitterWarnings(spec: CronSchedule | EverySchedule): ScheduleWarning[] {
  const { jitterMs = 0 } = spec;
  if (jitterMs === 0) return [];
  const smallestMs = spec.kind === "cron" ? smallestCronInterval(spec) : spec.everyMs;
  if (jitterMs * 2 <= smallestMs) return [];
  const message = `A jitter of up to ${durationInWords(jitterMs)} is more than half of the smallest interval, ${durationInWords(smallestMs)}.`;
  return [{ code: "jitter_near_interval", message }];
}

function cronWarnings(spec: CronSchedule, context: ScheduleContext, from: Instant): ScheduleWarning[] {
  const warnings: ScheduleWarning[] = [];
  const { fields } = compileCron(spec.cron, spec);
  if (spec.dayMatch === undefined && !isUnrestricted(fields.dayOfMonth) && !isUnrestricted(fields.dayOfWeek)) {
    const message =
      'Day-of-month and day-of-week are both restricted, so a day that matches either fires; set day_match "and" to require both.';
    warnings.push({ code: "both_day_fields", message });
  }
  const isZero = (shape: ReturnType<typeof shapeOf>) =>
    shape.kind === "values" && shape.values.length === 1 && shape.values[0] === 0;
  if (!spec.jitterMs && isZero(shapeOf(fields.second)) && isZero(shapeOf(fields.minute))) {
    const message =
      "The schedule fires at second 0 of minute 0, as many schedules do; a jitter such as 30s spreads the load.";
    warnings.push({ code: "on_the_hour", message });
  }
  const open = spec.calendars === undefined ? null : compileOpenDays(spec.calendars, context.calendars ?? new Map());
  const changes = relevantChanges(spec, from, from + YEAR_MS).filter(({ day }) => open === null || open.isOpen(day));
  return [...warnings, ...changes.map(({ at, message }) => ({ code: "clock_change" as const, message, at }))];
}

/** A clock change that affects fires of a schedule. */
interface RelevantChange {
  readonly at: Instant;
  /** The local date of the fire. */
  readonly day: CivilDay;
  readonly message: string;
}

/**
 * The clock changes between two instants that affect a schedule. Wildcard schedules follow elapsed time: a change affects
 * them only under an explicit policy.
 */
function relevantChanges(spec: CronSchedule, from: Instant, to: Instant): RelevantChange[] {
  const cron = compileCron(spec.cron, spec);
  if (!isFixedTime(cron.fields) && spec.dst === undefined) return [];
  const wall = compileCron(spec.cron, { ...spec, timeZone: "UTC" });
  const relevant: RelevantChange[] = [];
  for (let at = Math.floor(from / 1000); at < to / 1000;) {
    const span = cron.zone.spanAt(at);
    const fire = span.end < to / 1000 ? affectedFire(wall, span) : null;
    if (fire !== null) {
      const day = Math.floor((fire * 1000) / DAY_MS);
      relevant.push({ at: span.end * 1000, day, message: messageFor(spec, isFixedTime(cron.fields), span, fire) });
    }
    at = span.end;
  }
  return relevant;
}

/** The first reading of the schedule, in seconds, that the change at the end of the span skips or repeats. */
function affectedFire(wall: CompiledCron, span: OffsetSpan): number | null {
  const from = span.end + span.offset + Math.min(span.shiftOut, 0);
  const fire = wall.next(from * 1000 - 1) / 1000;
  return fire >= from && fire < from + Math.abs(span.shiftOut) ? fire : null;
}

function messageFor(spec: CronSchedule, isFixed: boolean, span: OffsetSpan, fire: number): string {
  const before = span.end + span.offset;
  const after = before + span.shiftOut;
  const day = wallText(fire).slice(0, 10);
  const time = (reading: number) => wallText(reading).slice(11, 16);
  const skips = span.shiftOut > 0;
  const range = skips ? `skips ${time(before)} to ${time(after)}` : `repeats ${time(after)} to ${time(before)}`;
  return `On ${day} the clock in ${spec.timeZone} ${range}: the fire at ${time(fire)} ${skips ? inGap() : inOverlap()}.`;

  function inGap(): string {
    const late = (spec.dst?.gap ?? (isFixed ? "after" : "skip")) === "after";
    return late ? `happens right after, at ${time(after)}` : "does not happen";
  }

  function inOverlap(): string {
    const overlap = spec.dst?.overlap ?? (isFixed ? "first" : "both");
    return { first: "happens the first time", second: "happens the second time", both: "happens twice" }[overlap];
  }
}
