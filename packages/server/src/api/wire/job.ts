import type { Job } from "@carillon/contract";
import { describeSchedule, formatDuration, formatId, type Instant, statusOfJob } from "@carillon/core";
import type { JobView } from "@carillon/engine";
import { runSummary, wireRun } from "./run.js";
import { timestamp, timestampOrNull } from "./scalars.js";
import { localTime, warningsOf } from "./schedule-words.js";
import { wireRetry, wireSchedule } from "./schedule.js";

/** A job as lists show it. */
export function wireJob(job: JobView): Job {
  const { schedule, lastRun, nextRunAt, policy } = job;
  return {
    id: formatId("job", job.id),
    key: job.key,
    task: job.task,
    payload: job.payload ?? null,
    schedule: wireSchedule(schedule),
    retry: wireRetry(policy),
    timeout: policy.timeoutMs === undefined ? null : formatDuration(policy.timeoutMs),
    priority: job.priority,
    queue: job.queue,
    labels: { ...job.labels },
    owner: job.owner,
    state: job.state,
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

/** Who asks, and when. */
export interface Reader {
  readonly now: Instant;
  /** Knows a job by the names of another system. */
  readonly foreign: boolean;
}

/**
 * A job on its own: with the warnings, which take too long to look for in lists, and with the run of a one-off, so that
 * "how did it go" is one call.
 */
export function wireOneJob(job: JobView, { now, foreign }: Reader): Job {
  const wire = wireJob(job);
  return {
    ...wire,
    warnings: warningsOf(job, now),
    ...(isOneOff(job) && job.lastRun !== null && { run: wireRun(job.lastRun) }),
    ...(foreign && { job_id: wire.id, task_id: wire.id }),
  };
}

function isOneOff(job: JobView): boolean {
  return job.schedule.kind === "at";
}
