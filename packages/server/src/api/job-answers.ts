import { type CalendarSet, formatId, type Instant, type ScheduleSpec } from "@carillon/core";
import type { JobView, RunExplanation } from "@carillon/engine";
import type { CallAnswer } from "./http/call.js";
import type { ApiEngine, ApiOptions } from "./http/handler.js";
import { wireOneJob } from "./wire/job.js";
import { calendarNames } from "./wire/schedule-words.js";
import { jobRef, notFound } from "./references.js";

/** For whom a job is shown. */
export interface Asker {
  readonly namespace: string;
  readonly foreign: boolean;
  /** What the run of a one-off job waits for, where that was looked up. */
  readonly waitingOn?: RunExplanation | null;
}

/** Finds jobs and shows one, the same way for every call that answers with it. */
export class JobAnswers {
  readonly #engine: ApiEngine;
  readonly #now: () => Instant;

  constructor({ engine, now }: ApiOptions) {
    this.#engine = engine;
    this.#now = now;
  }

  async found(namespace: string, id: string): Promise<JobView> {
    const job = await this.#engine.getJob(namespace, jobRef(id));
    if (job === null) throw notFound(`There is no job ${id}.`);
    return job;
  }

  async shown(job: JobView, { namespace, foreign, waitingOn = null }: Asker): Promise<CallAnswer> {
    const calendars = await calendarsOf(this.#engine, namespace, job.schedule);
    const body = wireOneJob(job, { now: this.#now(), foreign, calendars, waitingOn });
    return { status: 200, body, headers: { ETag: etagOf(job) } };
  }

  async created(job: JobView, asker: Asker): Promise<CallAnswer> {
    const answer = await this.shown(job, asker);
    const location = `/v1/jobs/${formatId("job", job.id)}`;
    return { ...answer, status: 201, headers: { ...answer.headers, Location: location } };
  }
}

function etagOf({ version }: JobView): string {
  return `"v${version}"`;
}

const none: CalendarSet = new Map();

export async function calendarsOf(engine: ApiEngine, namespace: string, schedule: ScheduleSpec): Promise<CalendarSet> {
  const names = calendarNames(schedule);
  return names.length === 0 ? none : engine.calendarSet(namespace, names);
}
