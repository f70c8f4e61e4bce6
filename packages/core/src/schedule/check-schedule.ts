import { compileCron } from "../cron/compile.js";
import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { errorCatalogue, type ErrorCode } from "../errors/catalogue.js";
import type { DurationMs, Instant } from "../time/instant.js";
import { LAST_INSTANT } from "../zone/instant-range.js";
import { resolveZone } from "../zone/resolve-zone.js";
import { smallestCronInterval } from "./smallest-interval.js";
import type { AfterSchedule, CalendarRule, CronSchedule, EverySchedule, ScheduleSpec } from "./spec.js";

const SMALLEST_EVERY_MS: DurationMs = 1_000;

/** Everything that is wrong with a schedule, with what would be right. Pointers are within the schedule. */
export function checkSchedule(spec: ScheduleSpec): ErrorItem[] {
  switch (spec.kind) {
    case "manual":
      return [];
    case "after":
      return afterProblems(spec);
    case "at":
      return isInstant(spec.at) ? [] : [invalid("/at", "at is an instant between 1970 and 9999")];
    case "every":
      return [...everyProblems(spec), ...boundProblems(spec)];
    default:
      return [...cronProblems(spec), ...boundProblems(spec)];
  }
}

/** The same as an error: the one problem's own code, or `schedule_invalid` with all of them as its items. */
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
  if (!Number.isSafeInteger(everyMs) || everyMs < SMALLEST_EVERY_MS) {
    found.push(invalid("/every", "every is at least one second, in whole milliseconds, such as 15m"));
  }
  if (!isInstant(anchor))
    found.push(invalid("/starts_at", "the anchor of an interval is an instant between 1970 and 9999"));
  if (timeZone !== undefined) found.push(...problemOf("/time_zone", () => resolveZone(timeZone)));
  return found.length > 0 || jitterMs === undefined ? found : jitterProblems(jitterMs, everyMs);
}

function jitterProblems(jitterMs: DurationMs, smallestMs: DurationMs): ErrorItem[] {
  if (!Number.isSafeInteger(jitterMs) || jitterMs < 0) {
    return [invalid("/jitter", "jitter is a duration of whole milliseconds, such as 30s")];
  }
  if (jitterMs < smallestMs) return [];
  return [
    invalid(
      "/jitter",
      `a jitter of ${jitterMs} ms is as long as the smallest interval of the schedule, ${smallestMs} ms: fires could overtake one another; make it shorter`,
    ),
  ];
}

function boundProblems({ startsAt, endsAt, maxRuns, calendars }: CronSchedule | EverySchedule): ErrorItem[] {
  const found: ErrorItem[] = [];
  if (startsAt !== undefined && !isInstant(startsAt)) {
    found.push(invalid("/starts_at", "starts_at is an instant between 1970 and 9999"));
  }
  if (endsAt !== undefined && !isInstant(endsAt)) {
    found.push(invalid("/ends_at", "ends_at is an instant between 1970 and 9999"));
  }
  if (startsAt !== undefined && endsAt !== undefined && endsAt < startsAt) {
    found.push(invalid("/ends_at", "the schedule ends before it starts: set ends_at later than starts_at"));
  }
  if (maxRuns !== undefined && (!Number.isSafeInteger(maxRuns) || maxRuns < 1)) {
    found.push(invalid("/max_runs", "max_runs is a whole number from 1"));
  }
  return calendars === undefined ? found : [...found, ...calendarProblems(calendars)];
}

function calendarProblems({ exclude = [], only = [], roll }: CalendarRule): ErrorItem[] {
  if (exclude.length === 0 && only.length === 0) {
    const need = roll === undefined ? "calendars names none" : `roll "${roll}" has nothing to roll`;
    return [invalid("/calendars", `${need}: give exclude or only a list of calendar names`)];
  }
  return exclude.flatMap((name, index) =>
    only.includes(name)
      ? [invalid(`/calendars/exclude/${index}`, `calendar "${name}" is in exclude and in only: no day would be left`)]
      : [],
  );
}

function afterProblems({ after }: AfterSchedule): ErrorItem[] {
  if (after.length === 0) return [invalid("/after", "after names at least one job")];
  return after.flatMap(({ job, on }, index) => {
    if (job === "") return [invalid(`/after/${index}/job`, "job is the key or the id of another job")];
    const earlier = after.findIndex((other) => other.job === job && other.on === on);
    return earlier === index ? [] : [invalid(`/after/${index}`, `job "${job}" on ${on} is listed twice`)];
  });
}

function isInstant(value: Instant): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= LAST_INSTANT;
}

function invalid(pointer: string, detail: string): ErrorItem {
  return { pointer, code: "schedule_invalid", detail };
}

/** The error that the user can act on, as an item; any other error is a bug and goes on. */
function problemOf(pointer: string, attempt: () => unknown): ErrorItem[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof CarillonError) return [{ pointer, code: error.code, detail: error.message }];
    throw error;
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
