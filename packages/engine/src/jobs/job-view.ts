import {
  type FiringPolicy,
  type Instant,
  type JobPause,
  type JobState,
  type JobStatus,
  type RunPolicy,
  type RunStatus,
  runStatuses,
  type ScheduleSpec,
  shownLabels,
  statusOfJob,
} from "@carillon/core";
import { type JobRow, type Neighbour, type NewJob, readPause } from "@carillon/store";
import type { RunView } from "../runs/run-view.js";

/** A job as readers see it. A one-off job that is stored as its run alone is shown in the same form. */
export interface JobView {
  readonly id: string;
  readonly key: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  /** Only the values that differ from the defaults. */
  readonly firing: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly state: JobState;
  /** null unless the job is paused. */
  readonly pause: JobPause | null;
  readonly version: number;
  /** The next nominal instant with its jitter added; null when the schedule has no occurrence left. */
  readonly nextRunAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** The jobs that it waits for, and those that wait for it; only where a single job is read. */
  readonly neighbours: readonly Neighbour[];
  /** The run of a one-off job; the latest live or finished run of a recurring one; null before the first. */
  readonly lastRun: RunView | null;
}

/** The status that lists show for a job. */
export function jobStatus(job: JobView): JobStatus {
  return statusOfJob({ state: job.state, oneOff: job.schedule.kind === "at", run: job.lastRun?.status ?? null });
}

/** The run statuses in which a job that is stored as its run alone has one of these job statuses. */
export function runStatusesOf(statuses: readonly JobStatus[]): RunStatus[] {
  return runStatuses.filter((run) => {
    const state = run === "cancelled" ? "cancelled" : "active";
    return statuses.includes(statusOfJob({ state, oneOff: true, run }));
  });
}

export function toJobView(row: JobRow, lastRun: RunView | null): JobView {
  return {
    id: row.id,
    key: row.key,
    task: row.task,
    queue: row.queue,
    priority: row.priority,
    payload: row.payload,
    schedule: row.schedule,
    policy: row.policy ?? {},
    firing: row.firing ?? {},
    labels: shownLabels(row.labels),
    owner: row.owner,
    state: row.state,
    pause: row.state === "paused" ? readPause(row) : null,
    version: row.version,
    nextRunAt: row.state === "paused" ? null : row.next_fire_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    neighbours: [],
    lastRun,
  };
}

/** A job at the moment in which it was stored. Not for a job that waits for others: its neighbours are not part of the new row. */
export function newJobView(job: NewJob, createdAt: Instant): JobView {
  const { id, key, task, queue, priority, payload = null, schedule, policy, firing, owner, state } = job;
  return {
    id,
    key,
    task,
    queue,
    priority,
    payload,
    schedule,
    policy,
    firing,
    labels: shownLabels(job.labels),
    owner,
    state,
    pause: null,
    version: 1,
    nextRunAt: job.nextFireAt,
    createdAt,
    updatedAt: createdAt,
    neighbours: [],
    lastRun: null,
  };
}

/** The job of a run that is stored without a row for its job. */
export function oneOffJob(run: RunView): JobView {
  const isWaiting = run.status === "scheduled" || run.status === "retrying";
  return {
    id: run.id,
    key: null,
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    payload: run.payload,
    schedule: { kind: "at", at: run.trigger.scheduledFor },
    policy: run.policy,
    firing: {},
    labels: run.labels,
    owner: run.owner,
    state: run.finishedAt === null ? "active" : run.status === "cancelled" ? "cancelled" : "completed",
    pause: null,
    version: 1,
    nextRunAt: isWaiting ? run.runAt : null,
    createdAt: run.createdAt,
    updatedAt: run.finishedAt ?? run.createdAt,
    neighbours: [],
    lastRun: run,
  };
}
