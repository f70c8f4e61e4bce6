import { limits, normaliseJobRequest } from "@carillon/contract";
import {
  type CalendarSet,
  previewSchedule,
  requireCalendars,
  type ScheduleSpec,
  scheduleWarnings,
} from "@carillon/core";
import type { Handlers } from "../call.js";
import type { ApiEngine, ApiOptions } from "../ports.js";
import { wireFire } from "../wire/job-history.js";
import { calendarNames, wireWarning } from "../wire/schedule-words.js";
import { calendarsOf } from "./job-answer.js";
import { fireCount } from "./job-history.js";
import { momentOf } from "./moment.js";

/** Jitter is a hash of the job's id, which there is none of yet: fires are shown without it. */
const noJob = "00000000-0000-0000-0000-000000000000";

export function jobPreviewHandlers(options: ApiOptions): Pick<Handlers, "previewJob"> {
  const { engine } = options;
  return {
    async previewJob({ body, query, namespace }) {
      const moment = momentOf(options);
      const { schedule } = normaliseJobRequest(withTask(body), moment).spec;
      const calendars = await knownCalendars(engine, namespace, schedule);
      const context = { jobId: noJob, calendars, checked: true };
      const from = schedule.kind === "at" ? schedule.at - 1 : moment.now;
      const count = Math.min(fireCount(query), ("maxRuns" in schedule && schedule.maxRuns) || Infinity);
      const { description, fires } = previewSchedule(withoutJitter(schedule), context, { from, count });
      const warnings = scheduleWarnings(schedule, context, moment.now).map(wireWarning);
      return { status: 200, body: { description, fires: fires.map(wireFire), warnings } };
    },
  };
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
