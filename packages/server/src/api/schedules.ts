import {
  type Warning,
  limits,
  normaliseJobRequest,
  type Retry,
  type Schedule,
  type UpcomingFire,
} from "@carillon/contract";
import {
  type CalendarRule,
  type CalendarSet,
  describeFireNote,
  type DurationMs,
  formatDuration,
  type Instant,
  type PreviewedFire,
  previewSchedule,
  requireCalendars,
  resolveZone,
  retryOf,
  type RunPolicy,
  type ScheduleBounds,
  type ScheduleSpec,
  type ScheduleWarning,
  scheduleWarnings,
  smallestCronInterval,
} from "@carillon/core";
import { checkConditions, type JobView } from "@carillon/engine";
import { type ApiEngine, type ApiOptions, handlers, momentOf, ok, timestamp } from "./http/handler.js";
import { unservedWarnings } from "./unserved-warnings.js";

/** Jitter is a hash of the job's id, which does not exist yet: fires are shown without it. */
const previewJobId = "00000000-0000-0000-0000-000000000000";

export function jobPreviewHandlers(options: ApiOptions) {
  const { engine } = options;
  return handlers({
    async previewJob({ body, query, namespace }) {
      const moment = momentOf(options, namespace);
      const { spec } = normaliseJobRequest(withTask(body), moment);
      const { schedule } = spec;
      if (schedule.kind === "after") checkConditions(schedule);
      const calendars = await knownCalendars(engine, namespace, schedule);
      const context = { jobId: previewJobId, calendars, checked: true };
      const from = schedule.kind === "at" ? schedule.at - 1 : moment.now;
      const count = Math.min(fireCount(query), ("maxRuns" in schedule && schedule.maxRuns) || Infinity);
      const { description, fires } = previewSchedule(withoutJitter(schedule), context, { from, count });
      const last = fires.at(-1)?.nominal ?? moment.now;
      const warnings = scheduleWarnings(schedule, context, moment.now, last).map(toWarningJson);
      const [first] = fires.filter((fire) => fire.outcome === "fires");
      const crowded = first === undefined ? [] : await crowdedSecond(engine, namespace, schedule, first.nominal);
      const unserved = hasTask(body) ? await unservedWarnings(engine, namespace, [spec]) : [];
      const all = [...warnings, ...crowded, ...unserved];
      return ok({ description, fires: fires.map(toFireJson), warnings: all });
    },
  });
}

/** Jobs in one second from which the preview recommends a jitter. */
const minCrowdedJobs = 100;

async function crowdedSecond(
  engine: ApiEngine,
  namespace: string,
  schedule: ScheduleSpec,
  at: Instant,
): Promise<Warning[]> {
  if ("jitterMs" in schedule && (schedule.jitterMs ?? 0) > 0) return [];
  const fires = await engine.forecasts.firesAt(namespace, at);
  if (fires < minCrowdedJobs) return [];
  const count = fires >= 1_000 ? "1,000 or more" : String(fires);
  const jitterMs = proposedJitterMs(schedule);
  const advice = jitterMs === null ? "" : `; jitter, such as "${formatDuration(jitterMs)}", spreads them`;
  const detail = `${count} other jobs fire in the same second${advice}`;
  return [{ code: "crowded_second", detail, at: timestamp(at) }];
}

const maxProposedJitterMs: DurationMs = 120_000;

/** At most half of the interval between two fires; null: the interval is too short. */
function proposedJitterMs(schedule: ScheduleSpec): DurationMs | null {
  if (schedule.kind !== "cron" && schedule.kind !== "every") return null;
  const smallestMs = schedule.kind === "cron" ? smallestCronInterval(schedule) : schedule.everyMs;
  const fitsMs = Math.floor(smallestMs / 2_000) * 1_000;
  return fitsMs < 1_000 ? null : Math.min(maxProposedJitterMs, fitsMs);
}

function hasTask(body: unknown): boolean {
  return body !== null && typeof body === "object" && ("task" in body || "job_type" in body);
}

/** A preview needs a schedule and no task. */
function withTask(body: unknown): unknown {
  const isJob = typeof body === "object" && body !== null && !Array.isArray(body);
  return isJob && !hasTask(body) ? { ...body, task: "preview" } : body;
}

function withoutJitter(schedule: ScheduleSpec): ScheduleSpec {
  if (!("jitterMs" in schedule)) return schedule;
  const { jitterMs: _, ...rest } = schedule;
  return rest;
}

async function knownCalendars(engine: ApiEngine, namespace: string, schedule: ScheduleSpec): Promise<CalendarSet> {
  const calendars = await calendarsOf(engine, namespace, schedule);
  const isKnown = calendarNames(schedule).every((name) => calendars.has(name));
  if (isKnown || !("calendars" in schedule)) return calendars;
  const { rows } = await engine.calendars.list(namespace, { pageSize: limits.pageSize });
  const names = rows.map(({ definition }) => definition.name);
  requireCalendars(schedule.calendars ?? {}, [...names, ...calendars.keys()]);
  return calendars;
}

export function toScheduleJson(schedule: ScheduleSpec): Schedule {
  switch (schedule.kind) {
    case "cron":
      return {
        cron: schedule.cron,
        time_zone: schedule.timeZone,
        ...(schedule.dayMatch !== undefined && { day_match: schedule.dayMatch }),
        ...(schedule.dst !== undefined && { dst: { ...schedule.dst } }),
        ...toBoundsJson(schedule),
      };
    case "every":
      return {
        every: formatDuration(schedule.everyMs),
        anchor: timestamp(schedule.anchor),
        ...(schedule.timeZone !== undefined && { time_zone: schedule.timeZone }),
        ...toBoundsJson(schedule),
      };
    case "at":
      return { at: timestamp(schedule.at) };
    case "manual":
      return { manual: true };
    default:
      return {
        after: schedule.after.map((one) => ({ ...one })),
        ...(schedule.mode !== undefined && { mode: schedule.mode }),
      };
  }
}

function toBoundsJson({ startsAt, endsAt, maxRuns, jitterMs, calendars }: ScheduleBounds): Schedule {
  return {
    ...(startsAt !== undefined && { starts_at: timestamp(startsAt) }),
    ...(endsAt !== undefined && { ends_at: timestamp(endsAt) }),
    ...(maxRuns !== undefined && { max_runs: maxRuns }),
    ...(jitterMs !== undefined && { jitter: formatDuration(jitterMs) }),
    ...(calendars !== undefined && { calendars: toCalendarsJson(calendars) }),
  };
}

function toCalendarsJson({ exclude, only, roll }: CalendarRule): NonNullable<Schedule["calendars"]> {
  return {
    ...(exclude !== undefined && { exclude: [...exclude] }),
    ...(only !== undefined && { only: [...only] }),
    ...(roll !== undefined && { roll }),
  };
}

/** The retry policy in force: the user's fields over the defaults. */
export function toRetryJson(policy: RunPolicy): Retry {
  const retry = retryOf(policy);
  return {
    max_attempts: retry.maxAttempts,
    backoff: retry.backoff,
    initial: formatDuration(retry.initialMs),
    factor: retry.factor,
    max: formatDuration(retry.maxMs),
    jitter: retry.jitter,
    non_retryable: [...retry.nonRetryable],
  };
}

/** Warnings that explain why a completed job never ran. */
const reasonsForNoRun: ReadonlySet<ScheduleWarning["code"]> = new Set([
  "never_fires",
  "ends_in_past",
  "calendar_removes_all",
]);

/** Warnings about schedules that are valid but perhaps not intended: while fires remain, or when the job never ran. */
export function warningsOf(job: JobView, calendars: CalendarSet, now: Instant): Warning[] {
  const { id, schedule, state, lastRun } = job;
  if (schedule.kind === "at" || state === "cancelled" || (state === "completed" && lastRun !== null)) return [];
  // The job is shown even when a calendar of its schedule was deleted.
  if (calendarNames(schedule).some((name) => !calendars.has(name))) return [];
  const warnings = scheduleWarnings(schedule, { jobId: id, calendars, checked: true }, now);
  return warnings.filter(({ code }) => state !== "completed" || reasonsForNoRun.has(code)).map(toWarningJson);
}

function toWarningJson({ code, message, at }: ScheduleWarning): Warning {
  return { code, detail: message, ...(at !== undefined && { at: timestamp(at) }) };
}

/** The calendars that a schedule names, each once. */
function calendarNames(schedule: ScheduleSpec): string[] {
  const { exclude = [], only = [] } = ("calendars" in schedule && schedule.calendars) || {};
  return [...new Set([...exclude, ...only])];
}

/** The instant in the schedule's time zone: 2026-11-13T09:30:00.000+01:00 */
export function localTime(instant: Instant, schedule: ScheduleSpec): string {
  const zone = resolveZone("timeZone" in schedule ? (schedule.timeZone ?? "UTC") : "UTC");
  const offsetMinutes = Math.trunc(zone.offsetAt(instant) / 60_000);
  const wall = timestamp(zone.toWall(instant)).slice(0, -1);
  const size = Math.abs(offsetMinutes);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${wall}${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const noCalendars: CalendarSet = new Map();

export async function calendarsOf(engine: ApiEngine, namespace: string, schedule: ScheduleSpec): Promise<CalendarSet> {
  const names = calendarNames(schedule);
  return names.length === 0 ? noCalendars : engine.calendars.set(namespace, names);
}

export function fireCount({ count = limits.defaultUpcoming }: { readonly count?: number }): number {
  return Math.min(count, limits.upcoming);
}

export function toFireJson({ outcome, nominal, fireAt, wallTime, notes }: PreviewedFire): UpcomingFire {
  return {
    outcome,
    scheduled_for: timestamp(nominal),
    run_at: timestamp(fireAt),
    local_time: wallTime,
    notes: notes.map((note) => ({ kind: note.kind, detail: describeFireNote(note) })),
  };
}
