import {
  defaultFiringPolicy,
  defaultRetryPolicy,
  formatDuration,
  type JobSpec,
  present,
  retryOf,
} from "@carillon/core";
import { durationText } from "../fields.js";
import { breakerRequest } from "./breaker.js";
import { defaultPriority, defaultQueue, type JobCreate, normaliseJobRequest } from "./job-create.js";
import { type ScheduleRequest, scheduleRequest } from "./job-schedule.js";
import type { JobDefinition } from "./job.js";
import type { RequestContext } from "./request-context.js";
import { limitsRequest } from "./run-limits.js";
import { requiresRequest, retryRequest, slaRequest } from "./run-policy.js";

/** Every field of a definition with its default, in the order that is best for readers. */
const defaults: Readonly<Record<keyof JobDefinition, unknown>> = {
  key: null,
  task: null,
  schedule: null,
  payload: null,
  searchable: null,
  queue: defaultQueue,
  priority: defaultPriority,
  retry: null,
  timeout: null,
  deadline: null,
  sla: null,
  guarantee: "at_least_once",
  overlap: defaultFiringPolicy.overlap,
  misfire: defaultFiringPolicy.misfire,
  misfire_threshold: formatDuration(defaultFiringPolicy.misfireThresholdMs),
  catchup_window: formatDuration(defaultFiringPolicy.catchupWindowMs),
  catchup_limit: defaultFiringPolicy.maxCatchupRuns,
  catchup_rate: defaultFiringPolicy.catchupPerSecond,
  concurrency: null,
  rate_limit: null,
  ordering_key: null,
  ordering_on_failure: "block",
  breaker: null,
  requires: null,
  task_version: null,
  allow_spot: false,
  callbacks: null,
  labels: null,
  owner: null,
};

/** A definition from an answer or a request, reduced to the fields that differ from the defaults. */
export function plainDefinition(given: JobDefinition | Partial<JobCreate>): Partial<JobCreate> {
  const full = {
    ...given,
    schedule: scheduleWithoutUtc(given),
    retry: retryIn(given),
    breaker: breakerWithoutTask(given),
  };
  const values = new Map<string, unknown>(Object.entries(full));
  const entries = Object.entries(defaults).flatMap(([name, byDefault]) => {
    const value = values.get(name);
    const isOwn = value !== undefined && value !== null && value !== byDefault;
    return isOwn && (name === "payload" || !isEmpty(value)) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * The reduced definition that a request stands for: two requests with the same meaning give the same. Takes an instant of any age.
 * Throws one CarillonError that names every fault.
 */
export function plainRequest(body: unknown, context: Pick<RequestContext, "now" | "defaultsOf">): Partial<JobCreate> {
  const { spec } = normaliseJobRequest(body, { ...context, catchupWindowMs: Number.POSITIVE_INFINITY });
  return plainDefinition({ ...requestOfJob(spec), retry: retryRequest(retryOf(spec.policy)) });
}

function scheduleWithoutUtc({ schedule }: JobDefinition | Partial<JobCreate>): Partial<JobCreate>["schedule"] {
  const { anchor: _, ...rest }: ScheduleRequest & { anchor?: string } = { ...schedule };
  if (rest.time_zone !== "UTC") return rest;
  const { time_zone: __, ...inUtc } = rest;
  return inUtc;
}

const defaultRetry = new Map(Object.entries(retryRequest(defaultRetryPolicy)));

/** at_most_once implies one attempt. */
function retryIn({ retry, guarantee }: JobDefinition | Partial<JobCreate>): Partial<JobCreate>["retry"] {
  const own = Object.entries(retry ?? {}).filter(
    ([name, value]) => value !== defaultRetry.get(name) && !isEmpty(value) && !isOnce(name, value, guarantee),
  );
  return Object.fromEntries(own);
}

const isOnce = (name: string, value: unknown, guarantee: string | undefined): boolean =>
  name === "max_attempts" && value === 1 && guarantee === "at_most_once";

/** The name of the task is the default. */
function breakerWithoutTask({ breaker, task }: JobDefinition | Partial<JobCreate>): Partial<JobCreate>["breaker"] {
  if (breaker === null || breaker === undefined || breaker.name !== task) return breaker ?? undefined;
  const { name: _, ...rest } = breaker;
  return rest;
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** The request for a definition: reading it gives the same definition. */
export function requestOfJob(spec: JobSpec): Partial<JobCreate> {
  const { key, task, queue, priority, payload, policy, labels, owner, firing = {} } = spec;
  return {
    task,
    queue,
    priority,
    payload,
    schedule: scheduleRequest(spec.schedule),
    labels: { ...labels },
    ...present({
      key,
      owner,
      retry: policy.retry && retryRequest(policy.retry),
      timeout: durationText(policy.timeoutMs),
      deadline: durationText(policy.deadlineMs),
      sla: policy.sla && slaRequest(policy.sla),
      guarantee: policy.guarantee,
      callbacks: policy.callbacks?.map(({ on, include, ...to }) => ({ ...to, on: [...on], include: [...include] })),
      searchable: policy.searchable && [...policy.searchable],
      overlap: firing.overlap,
      misfire: firing.misfire,
      misfire_threshold: durationText(firing.misfireThresholdMs),
      catchup_window: durationText(firing.catchupWindowMs),
      catchup_limit: firing.maxCatchupRuns,
      catchup_rate: firing.catchupPerSecond,
    }),
    ...requiresRequest(policy.requires),
    ...breakerRequest(policy),
    ...limitsRequest(policy),
  };
}
