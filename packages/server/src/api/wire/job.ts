import type { Job } from "@carillon/contract";
import { type CalendarSet, describeSchedule, formatId, type Instant, type JobPause, statusOfJob } from "@carillon/core";
import type { JobView, Neighbour, RunExplanation } from "@carillon/engine";
import { wireDefinition } from "./definition.js";
import { runSummary, wireRun } from "../run-wire.js";
import { timestamp, timestampOrNull } from "../timestamp.js";
import { localTime, warningsOf } from "./schedule-words.js";

/** A job as lists show it. */
export function wireJob(job: JobView): Job {
  const { schedule, lastRun, nextRunAt } = job;
  return {
    id: formatId("job", job.id),
    ...wireDefinition(job),
    state: job.state,
    pause: job.pause && wirePause(job.pause),
    status: statusOfJob({ state: job.state, oneOff: isOneOff(job), run: lastRun?.status ?? null }),
    version: job.version,
    next_run_at: timestampOrNull(nextRunAt),
    next_run_local: nextRunAt === null ? null : localTime(nextRunAt, schedule),
    description: describeSchedule(schedule),
    created_at: timestamp(job.createdAt),
    updated_at: timestamp(job.updatedAt),
    last_run: lastRun && runSummary(lastRun),
  };
}

function wirePause({ reason, actor, at, until, missed }: JobPause): NonNullable<Job["pause"]> {
  return { reason, actor, at: timestamp(at), until: timestampOrNull(until), missed };
}

/** Who asks, and when. */
export interface Reader {
  readonly now: Instant;
  /** Knows a job by the names of another system. */
  readonly foreign: boolean;
  /** Those that the job's schedule names. */
  readonly calendars: CalendarSet;
  /** What the run of a one-off job waits for, where that was looked up. */
  readonly waitingOn?: RunExplanation | null;
}

/**
 * A job on its own: with the warnings, which take too long to look for in lists, and with the run of a one-off, so that
 * "how did it go" is one call.
 */
export function wireOneJob(job: JobView, { now, foreign, calendars, waitingOn = null }: Reader): Job {
  const wire = wireJob(job);
  return {
    ...wire,
    warnings: warningsOf(job, calendars, now),
    ...wireNeighbours(job),
    ...(isOneOff(job) && job.lastRun !== null && { run: wireRun(job.lastRun, { waitingOn }) }),
    ...(foreign && { job_id: wire.id, task_id: wire.id, ...logUrl(job) }),
  };
}

function logUrl({ lastRun }: JobView): Pick<Job, "log_url"> {
  return lastRun === null ? {} : { log_url: `/v1/runs/${formatId("run", lastRun.id)}/logs` };
}

/** Only of jobs that wait or are waited for. */
export function wireNeighbours({ neighbours }: JobView): Pick<Job, "upstream" | "downstream"> {
  const upstream = neighbours
    .filter((one) => one.side === "upstream")
    .map((one) => ({
      ...wireNeighbour(one),
      met_by: one.metRunId === null ? null : formatId("run", one.metRunId),
      met_at: timestampOrNull(one.metAt),
    }));
  const downstream = neighbours.filter((one) => one.side === "downstream").map(wireNeighbour);
  return { ...(upstream.length > 0 && { upstream }), ...(downstream.length > 0 && { downstream }) };
}

function wireNeighbour({ jobId, key, on, when, state }: Neighbour) {
  return { job_id: formatId("job", jobId), key, on, when, state };
}

export function isOneOff(job: JobView): boolean {
  return job.schedule.kind === "at";
}
