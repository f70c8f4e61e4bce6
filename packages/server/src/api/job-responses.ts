import { type Job, type JobDefinition, slaRequest } from "@carillon/contract";
import {
  type BreakerPolicy,
  type CalendarSet,
  CarillonError,
  type FiringPolicy,
  type Instant,
  type JobPause,
  type RunPolicy,
  type ScheduleSpec,
  askedOf,
  describeSchedule,
  firingPolicy,
  formatDuration,
  formatId,
  statusOfJob,
  timeoutOf,
} from "@carillon/core";
import type { JobView, Neighbour, RunExplanation } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiEngine, type ApiOptions, type ApiResponse, createdResponse, okWithVersion } from "./http/handler.js";
import { toLimitsJson } from "./limits.js";
import { jobRef } from "./references.js";
import { toRunJson, toRunSummaryJson } from "./run-responses.js";
import { calendarsOf, localTime, toRetryJson, toScheduleJson, warningsOf } from "./schedules.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

export interface JobResponseOptions {
  readonly namespace: string;
  readonly legacySpelling: boolean;
  /** Why the run of a one-off job waits, if that was read. */
  readonly waitingOn?: RunExplanation | null;
}

/** Finds jobs, and makes the response of every call that returns one job. */
export class JobResponses {
  readonly #engine: ApiEngine;
  readonly #now: () => Instant;

  constructor({ engine, now }: ApiOptions) {
    this.#engine = engine;
    this.#now = now;
  }

  /** `ifVersion` is for previews of a change: the change itself requires the version in its own transaction. */
  async find(namespace: string, id: string, ifVersion?: number): Promise<JobView> {
    const job = found(await this.#engine.jobs.get(namespace, jobRef(id)), `There is no job ${id}.`);
    if (ifVersion === undefined || job.version === ifVersion) return job;
    throw new CarillonError("precondition_failed", `The job has version ${job.version}, not ${ifVersion}.`);
  }

  async shown(job: JobView, { namespace, legacySpelling, waitingOn = null }: JobResponseOptions): Promise<ApiResponse> {
    const calendars = await calendarsOf(this.#engine, namespace, job.schedule);
    return okWithVersion(toSingleJobJson(job, { now: this.#now(), legacySpelling, calendars, waitingOn }));
  }

  async created(job: JobView, options: JobResponseOptions): Promise<ApiResponse> {
    return createdResponse(`/v1/jobs/${formatId("job", job.id)}`, await this.shown(job, options));
  }
}

/** A job in a list. */
export function toJobJson(job: JobView): Job {
  const { schedule, lastRun, nextRunAt } = job;
  return {
    id: formatId("job", job.id),
    ...toDefinitionJson(job),
    state: job.state,
    pause: job.pause && toPauseJson(job.pause),
    status: statusOfJob({ state: job.state, oneOff: isOneOff(job), run: lastRun?.status ?? null }),
    version: job.version,
    next_run_at: timestampOrNull(nextRunAt),
    next_run_local: nextRunAt === null ? null : localTime(nextRunAt, schedule),
    description: describeSchedule(schedule),
    created_at: timestamp(job.createdAt),
    updated_at: timestamp(job.updatedAt),
    last_run: lastRun && toRunSummaryJson(lastRun),
  };
}

function toPauseJson({ reason, actor, at, until, missed }: JobPause): NonNullable<Job["pause"]> {
  return { reason, actor, at: timestamp(at), until: timestampOrNull(until), missed };
}

interface SingleJobOptions extends Required<Pick<JobResponseOptions, "legacySpelling" | "waitingOn">> {
  readonly now: Instant;
  /** The calendars that the job's schedule names. */
  readonly calendars: CalendarSet;
}

/** A single job: with its warnings, which are too slow for lists, and with the run of a one-off, which saves a second call. */
function toSingleJobJson(job: JobView, { now, legacySpelling, calendars, waitingOn }: SingleJobOptions): Job {
  const wire = toJobJson(job);
  return {
    ...wire,
    warnings: warningsOf(job, calendars, now),
    ...toNeighboursJson(job),
    ...(isOneOff(job) && job.lastRun !== null && { run: toRunJson(job.lastRun, { waitingOn }) }),
    ...(legacySpelling && { job_id: wire.id, task_id: wire.id, ...logUrl(job) }),
  };
}

function logUrl({ lastRun }: JobView): Pick<Job, "log_url"> {
  return lastRun === null ? {} : { log_url: `/v1/runs/${formatId("run", lastRun.id)}/logs` };
}

/** Only for jobs that depend on others or that others depend on. */
export function toNeighboursJson({ neighbours }: JobView): Pick<Job, "upstream" | "downstream"> {
  const upstream = neighbours
    .filter((one) => one.side === "upstream")
    .map((one) => ({
      ...toNeighbourJson(one),
      met_by: one.metRunId === null ? null : formatId("run", one.metRunId),
      met_at: timestampOrNull(one.metAt),
    }));
  const downstream = neighbours.filter((one) => one.side === "downstream").map(toNeighbourJson);
  return { ...(upstream.length > 0 && { upstream }), ...(downstream.length > 0 && { downstream }) };
}

function toNeighbourJson({ jobId, key, on, when, state }: Neighbour) {
  return { job_id: formatId("job", jobId), key, on, when, state };
}

export function isOneOff(job: JobView): boolean {
  return job.schedule.kind === "at";
}

/** The fields that jobs and their earlier versions share. */
interface Definition {
  readonly key: string | null;
  readonly task: string;
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  readonly priority: number;
  readonly queue: string;
  readonly firing: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
}

export function toDefinitionJson(definition: Definition): JobDefinition {
  const { policy } = definition;
  const requirements = askedOf(policy.requires);
  const timeoutMs = timeoutOf(policy);
  return {
    key: definition.key,
    task: definition.task,
    payload: definition.payload ?? null,
    schedule: toScheduleJson(definition.schedule),
    retry: toRetryJson(policy),
    timeout: timeoutMs === null ? null : formatDuration(timeoutMs),
    deadline: policy.deadlineMs === undefined ? null : formatDuration(policy.deadlineMs),
    sla: policy.sla === undefined ? null : slaRequest(policy.sla),
    guarantee: policy.guarantee ?? "at_least_once",
    requires: { ...requirements.labels },
    ...toLimitsJson(policy),
    task_version: requirements.version ?? null,
    allow_spot: requirements.allowsSpot,
    callbacks: (policy.callbacks ?? []).map(({ on, include, ...to }) => ({
      ...to,
      on: [...on],
      include: [...include],
    })),
    breaker:
      policy.breaker === undefined
        ? null
        : toBreakerPolicyJson(requirements.breaker ?? definition.task, policy.breaker),
    priority: definition.priority,
    queue: definition.queue,
    ...toFiringJson(firingPolicy(definition.firing)),
    labels: { ...definition.labels },
    searchable: [...(policy.searchable ?? [])],
    owner: definition.owner,
  };
}

type WireFiring = Pick<
  JobDefinition,
  "overlap" | "misfire" | "misfire_threshold" | "catchup_window" | "catchup_limit" | "catchup_rate"
>;

function toFiringJson(firing: FiringPolicy): WireFiring {
  return {
    overlap: firing.overlap,
    misfire: firing.misfire,
    misfire_threshold: formatDuration(firing.misfireThresholdMs),
    catchup_window: formatDuration(firing.catchupWindowMs),
    catchup_limit: firing.maxCatchupRuns,
    catchup_rate: firing.catchupPerSecond,
  };
}

function toBreakerPolicyJson(name: string, breaker: BreakerPolicy): NonNullable<JobDefinition["breaker"]> {
  return {
    name,
    failure_ratio: breaker.failureRatio,
    window: formatDuration(breaker.windowMs),
    min_calls: breaker.minCalls,
    open_for: formatDuration(breaker.openForMs),
  };
}
