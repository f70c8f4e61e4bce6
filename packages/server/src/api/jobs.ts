import {
  type BatchResult,
  hasOtherSpelling,
  historyLength,
  inOtherSpelling,
  type Job,
  type JobDefinition,
  type JobVersion,
  normaliseJobRequest,
  type Occurrences,
  type Operation,
  type operations,
  readCancel,
  readJobBatch,
  readJobPatch,
  readPause,
  readResume,
  readRollback,
  refuseOtherKey,
  type Run,
  slaRequest,
  type Warning,
} from "@carillon/contract";
import {
  askedOf,
  type BreakerPolicy,
  CarillonError,
  describeSchedule,
  type FiringPolicy,
  firingPolicy,
  formatDuration,
  formatId,
  type Instant,
  isFinal,
  type JobPause,
  type JobSpec,
  type RunPolicy,
  type ScheduleSpec,
  statusOfJob,
  timeoutOf,
} from "@carillon/core";
import type { CreatedJob, JobVersionView, JobView, Neighbour, OccurrenceView, RunExplanation } from "@carillon/engine";
import { type ReadItem, readItem, replayedItems, specsOf, storeBatch } from "./batch.js";
import { jobFilter, keysOf, refuseTotalWithStatus } from "./filters.js";
import { toProblem } from "./http/errors.js";
import {
  type ApiEngine,
  type ApiOptions,
  type ApiResponse,
  type Call,
  contextOf,
  createdResponse,
  handlers,
  momentOf,
  noTracing,
  ok,
  okWithVersion,
  type Replays,
  timestamp,
  timestampOrNull,
  traceOf,
} from "./http/handler.js";
import { listOf, nextPageToken, orderOf, pageRequest } from "./http/paging.js";
import { findJob, jobRef } from "./http/request.js";
import { toLimitsJson } from "./limits.js";
import { toRunJson, toRunSummaryJson } from "./runs.js";
import { calendarsOf, fireCount, localTime, toFireJson, toRetryJson, toScheduleJson, warningsOf } from "./schedules.js";
import { unservedJobWarnings, unservedWarnings } from "./unserved-warnings.js";

export function jobHandlers(options: ApiOptions) {
  const { engine, tracing = noTracing } = options;
  const responses = new JobResponses(options);
  return handlers({
    async createJob(call) {
      const { body, namespace, legacySpelling, receipt } = call;
      const request = normaliseJobRequest(body, momentOf(options, namespace));
      const job = await tracing.enqueueTraced(traceOf(call), [request.spec], ([one = request.spec]) =>
        engine.jobs.create(namespace, one, receipt),
      );
      return responses.created(job, { namespace, legacySpelling: legacySpelling || request.hasLegacySpelling });
    },
    async createJobs(call) {
      const items = readBatch(options, call);
      const outcomes = await storeBatch(options, call, items, (specs, receipt) =>
        engine.jobs.createMany(call.namespace, specs, receipt),
      );
      return batchResponse(outcomes, call.requestId, await unservedWarnings(engine, call.namespace, specsOf(items)));
    },
    async listJobs({ query, namespace, legacySpelling }) {
      const toJson = (job: JobView): Job => (legacySpelling ? inOtherSpelling(toJobJson(job)) : toJobJson(job));
      const filter = jobFilter(query);
      const keys = keysOf(query);
      if (keys !== null) {
        const jobs = await engine.jobs.byKeys(namespace, keys);
        return ok({ jobs: jobs.map(toJson), next_page_token: null });
      }
      const list = ["jobs", namespace, filter, ...orderOf(query)];
      if (query.total !== undefined) refuseTotalWithStatus(query);
      const page = await engine.jobs.list(namespace, filter, pageRequest(query, list));
      const total = query.total === undefined ? undefined : await engine.jobs.total(namespace, filter, query.total);
      return ok({
        jobs: page.rows.map(toJson),
        next_page_token: nextPageToken(page, list),
        ...(total !== undefined && { total: { ...total } }),
      });
    },
    async getJob({ params, namespace, legacySpelling }) {
      const job = await responses.find(namespace, params.id);
      const waitingOn = await explainOneOff(engine, namespace, job);
      return responses.shown(job, { namespace, legacySpelling, waitingOn });
    },
  });
}

/** The responses to repeated calls whose first response was not stored. */
export function jobReplays(options: ApiOptions): Replays {
  const responses = new JobResponses(options);
  return {
    async createJob({ jobs = [] }, call) {
      const id = formatId("job", jobs[0] ?? "");
      return responses.created(await responses.find(call.namespace, id), shownTo(call));
    },
    async createJobs({ jobs = [] }, call) {
      const items = readBatch(options, call);
      const outcomes = replayedItems(items, jobs, (id): CreatedJob => ({ id }));
      return batchResponse(
        outcomes,
        call.requestId,
        await unservedWarnings(options.engine, call.namespace, specsOf(items)),
      );
    },
  };
}

/** Why the run of a one-off job waits; null: it does not wait, or the job is not a one-off. */
async function explainOneOff(engine: ApiOptions["engine"], namespace: string, job: JobView) {
  const { lastRun } = job;
  if (lastRun === null || !isOneOff(job) || lastRun.status === "running" || isFinal(lastRun.status)) return null;
  return engine.explanations.runView(namespace, lastRun);
}

function readBatch(
  options: ApiOptions,
  { body, namespace }: Pick<Call<Operation>, "body" | "namespace">,
): ReadItem<JobSpec>[] {
  const moment = momentOf(options, namespace);
  return readJobBatch(body).map((job) => readItem(() => normaliseJobRequest(job, moment).spec));
}

function batchResponse(outcomes: readonly CreatedJob[], requestId: string, warnings: Warning[]): ApiResponse {
  const results = outcomes.map((outcome): BatchResult => {
    if ("id" in outcome) return { id: formatId("job", outcome.id) };
    return { problem: toProblem(outcome.error, requestId).body };
  });
  const created = results.filter((one) => one.id !== undefined).length;
  return ok({ results, created, refused: results.length - created, warnings });
}

/** Bodies are validated before the job is read: a wrong one is refused even if the job does not exist. */
export function jobChangeHandlers(options: ApiOptions) {
  const { engine, now } = options;
  const responses = new JobResponses(options);
  return handlers({
    async updateJob(call) {
      const edit = readJobPatch(call.body, options);
      const job = await engine.jobs.edit(call.namespace, jobRef(call.params.id), edit, contextOf(call));
      return responses.shown(job, shownTo(call));
    },
    putJob: (call) => put(options, responses, call),
    async deleteJob(call) {
      const { running = "signal", dependants = "refuse" } = call.query;
      await engine.jobs.cancel(call.namespace, jobRef(call.params.id), { running, dependants }, contextOf(call));
      return { status: 204 };
    },
    async cancelJob(call) {
      const request = readCancel(call.body);
      const job = await engine.jobs.cancel(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return responses.shown(job, call);
    },
    async pauseJob(call) {
      const request = readPause(call.body, now());
      const job = await engine.jobs.pause(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return responses.shown(job, call);
    },
    resumeJob: (call) => resume(options, responses, call),
    async rollbackJob(call) {
      const version = readRollback(call.body);
      const job = await engine.jobs.rollback(call.namespace, jobRef(call.params.id), version, contextOf(call));
      return responses.shown(job, call);
    },
  });
}

type PutCall = Call<(typeof operations)["putJob"]>;
type ResumeCall = Call<(typeof operations)["resumeJob"]>;

/** A job named by its key is created or replaced; one named by its id must exist. */
async function put(options: ApiOptions, responses: JobResponses, call: PutCall): Promise<ApiResponse> {
  const { body, namespace } = call;
  const { engine } = options;
  const ref = jobRef(call.params.id);
  const define = (current: JobSpec | null, now: Instant): JobSpec => {
    const moment = { ...momentOf(options, namespace), now, ...(current && { current }) };
    const { spec } = normaliseJobRequest(body, moment);
    const key = "key" in ref ? ref.key : current?.key;
    refuseOtherKey(spec.key, key);
    return { ...spec, ...(key !== undefined && { key }) };
  };
  if ("id" in ref)
    return responses.shown(await engine.jobs.edit(namespace, ref, define, contextOf(call)), shownTo(call));
  const { job, created } = await engine.jobs.upsert(namespace, ref.key, define, contextOf(call));
  return created ? responses.created(job, shownTo(call)) : responses.shown(job, shownTo(call));
}

/** A caller who uses names of another system, in the address or in the body, gets them back. */
function shownTo({ namespace, legacySpelling, body }: Call<Operation>): JobResponseOptions {
  return { namespace, legacySpelling: legacySpelling || hasOtherSpelling(body, "job") };
}

async function resume({ engine }: ApiOptions, responses: JobResponses, call: ResumeCall): Promise<ApiResponse> {
  const { dryRun, ...request } = readResume(call.body);
  const { namespace, params, ifVersion } = call;
  const ref = jobRef(params.id);
  const { job, missed } = dryRun
    ? {
        job: await responses.find(namespace, params.id, ifVersion),
        missed: await engine.jobs.countMissed(namespace, ref),
      }
    : await engine.jobs.resume(namespace, ref, request, contextOf(call));
  const { body, ...response } = await responses.shown(job, call);
  return { ...response, body: { job: body, missed, dry_run: dryRun } };
}

const readVersion = (text: string): string | null => (/^[1-9]\d{0,8}$/.test(text) ? text : null);
/** The engine validates the rest of its own page position. */
const readOccurrence = (text: string): string | null => (/^[a-z0-9_.:~-]{1,100}$/.test(text) ? text : null);

const versionList = listOf("versions", toVersionJson, readVersion);
const occurrenceList = listOf("occurrences", toOccurrencesJson, readOccurrence);

export function jobHistoryHandlers({ engine }: ApiOptions) {
  return handlers({
    listJobVersions({ params, query, namespace }) {
      const ref = jobRef(params.id);
      return versionList(query, [namespace, ref], (page) => engine.jobs.versions(namespace, ref, page));
    },
    listJobOccurrences({ params, query, namespace }) {
      const ref = jobRef(params.id);
      return occurrenceList(query, [namespace, ref], (page) => engine.jobs.occurrences(namespace, ref, page));
    },
    async listJobUpcoming({ params, query, namespace }) {
      const fires = await engine.jobs.upcoming(namespace, jobRef(params.id), fireCount(query));
      return ok({ fires: fires.map(toFireJson) });
    },
  });
}

function toVersionJson({ version, spec, validFrom, validTo, replacedBy }: JobVersionView): JobVersion {
  const { key = null, owner = null, firing = {} } = spec;
  return {
    version,
    definition: toDefinitionJson({ ...spec, key, owner, firing }),
    valid_from: timestamp(validFrom),
    valid_to: timestampOrNull(validTo),
    replaced_by: replacedBy,
  };
}

export function toOccurrencesJson({ reason, from, to, count, version, detail }: OccurrenceView): Occurrences {
  return { reason, from: timestamp(from), to: timestamp(to), count, version, detail };
}

interface JobResponseOptions {
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
    const job = await findJob(this.#engine, namespace, id);
    if (ifVersion === undefined || job.version === ifVersion) return job;
    throw new CarillonError("precondition_failed", `The job has version ${job.version}, not ${ifVersion}.`);
  }

  async shown(job: JobView, { namespace, legacySpelling, waitingOn = null }: JobResponseOptions): Promise<ApiResponse> {
    const calendars = await calendarsOf(this.#engine, namespace, job.schedule);
    const unserved = await unservedJobWarnings(this.#engine, namespace, job);
    const warnings = [...warningsOf(job, calendars, this.#now()), ...unserved];
    const wire = toSingleJobJson(job, { warnings, waitingOn });
    return okWithVersion(legacySpelling ? inOtherSpelling(wire, await this.#history(namespace, job)) : wire);
  }

  /** The latest runs of a job, newest first. */
  async #history(namespace: string, { id, lastRun }: JobView): Promise<Run[]> {
    if (lastRun === null) return [];
    const { rows } = await this.#engine.runs.list(namespace, { jobId: id }, { pageSize: historyLength });
    return rows.map((run) => toRunJson(run));
  }

  async created(job: JobView, options: JobResponseOptions): Promise<ApiResponse> {
    return createdResponse(`/v1/jobs/${formatId("job", job.id)}`, await this.shown(job, options));
  }
}

/** A job in a list. */
function toJobJson(job: JobView): Job {
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

interface SingleJobOptions extends Required<Pick<JobResponseOptions, "waitingOn">> {
  readonly warnings: Warning[];
}

/** A single job: with its warnings, which are too slow for lists, and with the run of a one-off, which saves a second call. */
function toSingleJobJson(job: JobView, { warnings, waitingOn }: SingleJobOptions): Job {
  const wire = toJobJson(job);
  return {
    ...wire,
    warnings,
    ...toNeighboursJson(job),
    ...(isOneOff(job) && job.lastRun !== null && { run: toRunJson(job.lastRun, { waitingOn }) }),
  };
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

function isOneOff(job: JobView): boolean {
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

function toDefinitionJson(definition: Definition): JobDefinition {
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
