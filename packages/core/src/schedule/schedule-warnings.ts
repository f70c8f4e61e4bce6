import { compileOpenDays } from "../calendar/open-days.js";
import { compileCron } from "../cron/compile.js";
import { isUnrestricted } from "../cron/fields.js";
import { shapeOf } from "../describe/field-shape.js";
import { durationInWords } from "../describe/phrases.js";
import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import { touchedChanges } from "./clock-changes.js";
import { compileSchedule, type ScheduleContext } from "./compile-schedule.js";
import { SEARCH_YEARS } from "./open-day-fires.js";
import { smallestCronInterval } from "./smallest-interval.js";
import type { CronSchedule, EverySchedule, ScheduleSpec } from "./spec.js";

/** Something that is allowed and probably not meant. */
export interface ScheduleWarning {
  readonly code:
    | "never_fires"
    | "first_fire_far"
    | "ends_in_past"
    | "calendar_removes_all"
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

export function scheduleWarnings(spec: ScheduleSpec, context: ScheduleContext, from: Instant): ScheduleWarning[] {
  if (spec.kind === "manual" || spec.kind === "after") return [];
  if (spec.kind === "at") {
    return spec.at > from ? [] : [{ code: "ends_in_past", message: "the instant lies in the past", at: spec.at }];
  }
  const shape = spec.kind === "cron" ? cronWarnings(spec, context, from) : [];
  return [...emptiness(spec, context, from), ...jitterWarnings(spec), ...shape];
}

/** Why nothing, or nothing soon, comes out of the schedule. */
function emptiness(spec: CronSchedule | EverySchedule, context: ScheduleContext, from: Instant): ScheduleWarning[] {
  if (spec.endsAt !== undefined && spec.endsAt <= from) {
    return [
      { code: "ends_in_past", message: "ends_at lies in the past: the schedule never fires again", at: spec.endsAt },
    ];
  }
  const first = compileSchedule(spec, { ...context, checked: true }).nextNominal(from);
  if (first !== NEVER) {
    if (first <= from + FAR_YEARS * YEAR_MS) return [];
    const date = new Date(first).toISOString().slice(0, 10);
    return [
      { code: "first_fire_far", message: `the first fire is on ${date}, more than ${FAR_YEARS} years away`, at: first },
    ];
  }
  const { calendars, ...withoutCalendars } = spec;
  const byRule = compileSchedule(withoutCalendars, { ...context, checked: true }).nextNominal(from);
  if (calendars !== undefined && byRule !== NEVER) {
    const message = `the calendars remove every fire of the next ${SEARCH_YEARS} years, or up to ends_at`;
    return [{ code: "calendar_removes_all", message }];
  }
  return [{ code: "never_fires", message: "nothing fires between starts_at and ends_at, or ever" }];
}

function jitterWarnings(spec: CronSchedule | EverySchedule): ScheduleWarning[] {
  const { jitterMs = 0 } = spec;
  if (jitterMs === 0) return [];
  const smallestMs = spec.kind === "cron" ? smallestCronInterval(spec) : spec.everyMs;
  if (jitterMs * 2 <= smallestMs) return [];
  const message = `a jitter of up to ${durationInWords(jitterMs)} is more than half of the smallest interval, ${durationInWords(smallestMs)}`;
  return [{ code: "jitter_near_interval", message }];
}

function cronWarnings(spec: CronSchedule, context: ScheduleContext, from: Instant): ScheduleWarning[] {
  const warnings: ScheduleWarning[] = [];
  const { fields } = compileCron(spec.cron, spec);
  if (spec.dayMatch === undefined && !isUnrestricted(fields.dayOfMonth) && !isUnrestricted(fields.dayOfWeek)) {
    const message =
      'day-of-month and day-of-week are both given: a day that matches either fires; say day_match "and" for both';
    warnings.push({ code: "both_day_fields", message });
  }
  const isZero = (shape: ReturnType<typeof shapeOf>) =>
    shape.kind === "values" && shape.values.length === 1 && shape.values[0] === 0;
  if (!spec.jitterMs && isZero(shapeOf(fields.second)) && isZero(shapeOf(fields.minute))) {
    const message = "fires at second 0 of minute 0, when many schedules do; a jitter such as 30s spreads the load";
    warnings.push({ code: "on_the_hour", message });
  }
  const open = spec.calendars === undefined ? null : compileOpenDays(spec.calendars, context.calendars ?? new Map());
  const changes = touchedChanges(spec, from, from + YEAR_MS).filter(({ day }) => open === null || open.isOpen(day));
  return [...warnings, ...changes.map(({ at, message }) => ({ code: "clock_change" as const, message, at }))];
}
