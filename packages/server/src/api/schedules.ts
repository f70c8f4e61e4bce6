import { type JobWarning, limits, normaliseJobRequest } from "@carillon/contract";
import {
  type CalendarSet,
  type DurationMs,
  formatDuration,
  type Instant,
  type JobSpec,
  previewSchedule,
  requireCalendars,
  type ScheduleSpec,
  scheduleWarnings,
  smallestCronInterval,
} from "@carillon/core";
import { checkConditions } from "@carillon/engine";
import type { Handlers } from "./http/call.js";
import type { ApiEngine, ApiOptions } from "./http/handler.js";
import { timestamp } from "./timestamp.js";
import { wireFire } from "./wire/job-history.js";
import { calendarNames, wireWarning } from "./wire/schedule-words.js";
import { calendarsOf } from "./job-answers.js";
import { fireCount } from "./job-history.js";
import { momentOf } from "./http/moment.js";

/** Jitter is a hash of the job's id, which there is none of yet: fires are shown without it. */
const noJob = "00000000-0000-0000-0000-000000000000";

export function jobPreviewHandlers(options: ApiOptions): Pick<Handlers, "previewJob"> {
  const { engine } = options;
  return {
    async previewJob({ body, query, namespace }) {
      const moment = momentOf(options, namespace);
      const { spec } = normaliseJobRequest(withTask(body), moment);
      const { schedule } = spec;
      if (schedule.kind === "after") checkConditions(schedule);
      const calendars = await knownCalendars(engine, namespace, schedule);
      const context = { jobId: noJob, calendars, checked: true };
      const from = schedule.kind === "at" ? schedule.at - 1 : moment.now;
      const count = Math.min(fireCount(query), ("maxRuns" in schedule && schedule.maxRuns) || Infinity);
      const { description, fires } = previewSchedule(withoutJitter(schedule), context, { from, count });
      const warnings = scheduleWarnings(schedule, context, moment.now).map(wireWarning);
      const [first] = fires.filter((fire) => fire.outcome === "fires");
      const crowded = first === undefined ? [] : await crowdedSecond(engine, namespace, schedule, first.nominal);
      const unserved = isTold(body) ? await unservedTask(engine, namespace, spec) : [];
      const all = [...warnings, ...crowded, ...unserved];
      return { status: 200, body: { description, fires: fires.map(wireFire), warnings: all } };
    },
  };
}

/** From so many jobs in one second on, a jitter is worth a thought. */
const crowdedFrom = 100;

async function crowdedSecond(
  engine: ApiEngine,
  namespace: string,
  schedule: ScheduleSpec,
  at: Instant,
): Promise<JobWarning[]> {
  if ("jitterMs" in schedule && (schedule.jitterMs ?? 0) > 0) return [];
  const fires = await engine.firesAt(namespace, at);
  if (fires < crowdedFrom) return [];
  const count = fires >= 1_000 ? "1,000 or more" : String(fires);
  const jitterMs = jitterFor(schedule);
  const advice = jitterMs === null ? "" : `; jitter, such as "${formatDuration(jitterMs)}", spreads them`;
  const detail = `${count} other jobs fire in the same second${advice}`;
  return [{ code: "crowded_second", detail, at: timestamp(at) }];
}

const usualJitterMs: DurationMs = 120_000;

/** At most half of what lies between two fires; null: there is no room for one. */
function jitterFor(schedule: ScheduleSpec): DurationMs | null {
  if (schedule.kind !== "cron" && schedule.kind !== "every") return null;
  const smallestMs = schedule.kind === "cron" ? smallestCronInterval(schedule) : schedule.everyMs;
  const fitsMs = Math.floor(smallestMs / 2_000) * 1_000;
  return fitsMs < 1_000 ? null : Math.min(usualJitterMs, fitsMs);
}

async function unservedTask(engine: ApiEngine, namespace: string, spec: JobSpec): Promise<JobWarning[]> {
  const unserved = await engine.whyUnserved(namespace, spec);
  return unserved === null ? [] : [{ code: unserved.code, detail: unserved.detail }];
}

/** Whether the request says what is to run. */
function isTold(body: unknown): boolean {
  return body !== null && typeof body === "object" && ("task" in body || "job_type" in body);
}

/** What is asked is when, not what. */
function withTask(body: unknown): unknown {
  const isJob = typeof body === "object" && body !== null && !Array.isArray(body);
  return isJob && !("task" in body || "job_type" in body) ? { ...body, task: "preview" } : body;
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
  const { rows } = await engine.listCalendars(namespace, { pageSize: limits.pageSize });
  const names = rows.map(({ definition }) => definition.name);
  requireCalendars(schedule.calendars ?? {}, [...names, ...calendars.keys()]);
  return calendars;
}
