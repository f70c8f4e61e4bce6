import { compileCron } from "../cron/compile.js";
import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { isErrorCode } from "../errors/catalogue.js";
import { type DurationMs, type Instant, LAST_INSTANT } from "../time/instant.js";
import { resolveZone } from "../zone/zone.js";
import { smallestCronInterval } from "./smallest-interval.js";
import type { AfterSchedule, CalendarRule, CronSchedule, EverySchedule, ScheduleSpec } from "./spec.js";

/** The shortest interval of a schedule. */
export const minEveryMs: DurationMs = 1_000;

/** All problems of a schedule, with remedies. Pointers are relative to the schedule. */
export function checkSchedule(spec: ScheduleSpec): ErrorItem[] {
  switch (spec.kind) {
    case "manual":
      return [];
    case "after":
      return afterProblems(spec);
    case "at":
      return isInstant(spec.at) ? [] : [invalid("/at", "Field at must be an instant between 1970 and 9999.")];
    case "every":
      return [...everyProblems(spec), ...boundProblems(spec)];
    default:
      return [...cronProblems(spec), ...boundProblems(spec)];
  }
}

/** Throws if the schedule has problems: with the code of a single problem, or `schedule_invalid` with all of them as items. */
export function requireSchedule(spec: ScheduleSpec): void {
  const items = checkSchedule(spec);
  const [first] = items;
  if (first === undefined) return;
  const code = items.length === 1 && isErrorCode(first.code) ? first.code : "schedule_invalid";
  const more = items.length > 1 ? ` (and ${items.length - 1} more)` : "";
  throw new CarillonError(code, `${first.detail}${more}`, { items });
}

function cronProblems(spec: CronSchedule): ErrorItem[] {
  const zone = problemOf("/time_zone", () => resolveZone(spec.timeZone));
  const cron = problemOf("/cron", () => compileCron(spec.cron, { dayMatch: spec.dayMatch ?? "or" }));
  const found = [...cron, ...zone];
  if (found.length > 0 || spec.jitterMs === undefined) return found;
  return jitterProblems(spec.jitterMs, smallestCronInterval(spec));
}

function everyProblems(spec: EverySchedule): ErrorItem[] {
  const found: ErrorItem[] = [];
  const { everyMs, anchor, timeZone, jitterMs } = spec;
  if (!Number.isSafeInteger(everyMs) || everyMs < minEveryMs) {
    found.push(invalid("/every", "Field every must be at least one second, in whole milliseconds, such as 15m."));
  }
  if (!isInstant(anchor))
    found.push(invalid("/starts_at", "The anchor of an interval must be an instant between 1970 and 9999."));
  if (timeZone !== undefined) found.push(...problemOf("/time_zone", () => resolveZone(timeZone)));
  return found.length > 0 || jitterMs === undefined ? found : jitterProblems(jitterMs, everyMs);
}

function jitterProblems(jitterMs: DurationMs, smallestMs: DurationMs): ErrorItem[] {
  if (!Number.isSafeInteger(jitterMs) || jitterMs < 0) {
    return [invalid("/jitter", "Field jitter must be a duration of whole milliseconds, such as 30s.")];
  }
  if (jitterMs < smallestMs) return [];
  return [
    invalid(
      "/jitter",
      `A jitter of ${jitterMs} ms is as long as the smallest interval of the schedule, ${smallestMs} ms, so fires could overtake one another; make it shorter.`,
    ),
  ];
}

function boundProblems({ startsAt, endsAt, maxRuns, calendars }: CronSchedule | EverySchedule): ErrorItem[] {
  const found: ErrorItem[] = [];
  if (startsAt !== undefined && !isInstant(startsAt)) {
    found.push(invalid("/starts_at", "Field starts_at must be an instant between 1970 and 9999."));
  }
  if (endsAt !== undefined && !isInstant(endsAt)) {
    found.push(invalid("/ends_at", "Field ends_at must be an instant between 1970 and 9999."));
  }
  if (startsAt !== undefined && endsAt !== undefined && endsAt < startsAt) {
    found.push(invalid("/ends_at", "The schedule ends before it starts; set ends_at later than starts_at."));
  }
  if (maxRuns !== undefined && (!Number.isSafeInteger(maxRuns) || maxRuns < 1)) {
    found.push(invalid("/max_runs", "Field max_runs must be a whole number from 1."));
  }
  return calendars === undefined ? found : [...found, ...calendarProblems(calendars)];
}

function calendarProblems({ exclude = [], only = [], roll }: CalendarRule): ErrorItem[] {
  if (exclude.length === 0 && only.length === 0) {
    const problem = roll === undefined ? "Field calendars names no calendar" : `Roll "${roll}" has no calendar`;
    return [invalid("/calendars", `${problem}; give exclude or only a list of calendar names.`)];
  }
  return exclude.flatMap((name, index) =>
    only.includes(name)
      ? [
          invalid(
            `/calendars/exclude/${index}`,
            `Calendar "${name}" is in exclude and in only, so no day would be left.`,
          ),
        ]
      : [],
  );
}

function afterProblems({ after }: AfterSchedule): ErrorItem[] {
  if (after.length === 0) return [invalid("/after", "Field after must name at least one job.")];
  return after.flatMap(({ job, on }, index) => {
    if (job === "") return [invalid(`/after/${index}/job`, "Field job must be the key or the id of another job.")];
    const earlier = after.findIndex((other) => other.job === job && other.on === on);
    return earlier === index ? [] : [invalid(`/after/${index}`, `Job "${job}" on ${on} is listed twice.`)];
  });
}

function isInstant(value: Instant): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= LAST_INSTANT;
}

function invalid(pointer: string, detail: string): ErrorItem {
  return { pointer, code: "schedule_invalid", detail };
}

/** An error that the user can act on, as an item; any other error is a bug and is rethrown. */
function problemOf(pointer: string, attempt: () => unknown): ErrorItem[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof CarillonError) return [{ pointer, code: error.code, detail: error.message }];
    throw error;
  }
}
