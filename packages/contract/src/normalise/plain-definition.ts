import { defaultFiringPolicy, defaultRetryPolicy, formatDuration, retryOf } from "@carillon/core";
import type { JobCreate } from "../schema/job-create.js";
import type { JobDefinition } from "../schema/job.js";
import type { ScheduleRequest } from "../schema/schedule.js";
import { defaultPriority, defaultQueue, type Moment, normaliseJobRequest } from "./job-request.js";
import { requestOfJob, retryRequest } from "./request-of-job.js";

/** In the order in which they are read best. */
const fieldNames = [
  "key",
  "task",
  "schedule",
  "payload",
  "queue",
  "priority",
  "retry",
  "timeout",
  "deadline",
  "guarantee",
  "overlap",
  "misfire",
  "misfire_threshold",
  "catchup_window",
  "catchup_limit",
  "catchup_rate",
  "concurrency",
  "rate_limit",
  "ordering_key",
  "ordering_on_failure",
  "breaker",
  "requires",
  "task_version",
  "allow_spot",
  "callbacks",
  "labels",
  "owner",
] as const satisfies readonly (keyof JobCreate)[];

/** What holds when nothing is said. */
const usual: Partial<Record<(typeof fieldNames)[number], unknown>> = {
  queue: defaultQueue,
  priority: defaultPriority,
  guarantee: "at_least_once",
  overlap: defaultFiringPolicy.overlap,
  misfire: defaultFiringPolicy.misfire,
  misfire_threshold: formatDuration(defaultFiringPolicy.misfireThresholdMs),
  catchup_window: formatDuration(defaultFiringPolicy.catchupWindowMs),
  catchup_limit: defaultFiringPolicy.catchupMost,
  catchup_rate: defaultFiringPolicy.catchupPerSecond,
  ordering_on_failure: "block",
  allow_spot: false,
};

/** A definition as answers show it, or a request in our own spelling, in the words of a person: only what differs from the usual. */
export function plainDefinition(given: JobDefinition | JobCreate): JobCreate {
  const said = { ...given, schedule: scheduleOf(given), retry: retryIn(given), breaker: breakerOf(given) };
  const entries = fieldNames.flatMap((name) => {
    const value: unknown = said[name];
    const isSaid = value !== undefined && value !== null && value !== usual[name];
    return isSaid && (name === "payload" || !isEmpty(value)) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * What a request asks for, in the same words: two requests that mean the same give the same. An instant of any age is taken. Throws one
 * CarillonError that names every fault.
 */
export function plainRequest(body: unknown, { now }: Pick<Moment, "now">): JobCreate {
  const { spec } = normaliseJobRequest(body, { now, catchupWindowMs: Number.POSITIVE_INFINITY });
  return plainDefinition({ ...requestOfJob(spec), retry: retryRequest(retryOf(spec.policy)) });
}

function scheduleOf({ schedule }: JobDefinition | JobCreate): JobCreate["schedule"] {
  const { anchor: _, ...rest }: ScheduleRequest & { anchor?: string } = { ...schedule };
  if (rest.time_zone !== "UTC") return rest;
  const { time_zone: __, ...inUtc } = rest;
  return inUtc;
}

const usualRetry = new Map(Object.entries(retryRequest(defaultRetryPolicy)));

/** One attempt is what at_most_once says already. */
function retryIn({ retry, guarantee }: JobDefinition | JobCreate): JobCreate["retry"] {
  const own = Object.entries(retry ?? {}).filter(
    ([name, value]) => value !== usualRetry.get(name) && !isEmpty(value) && !isOnce(name, value, guarantee),
  );
  return Object.fromEntries(own);
}

const isOnce = (name: string, value: unknown, guarantee: string | undefined): boolean =>
  name === "max_attempts" && value === 1 && guarantee === "at_most_once";

/** One without a name of its own has that of the task. */
function breakerOf({ breaker, task }: JobDefinition | JobCreate): JobCreate["breaker"] {
  if (breaker === null || breaker === undefined || breaker.name !== task) return breaker ?? undefined;
  const { name: _, ...rest } = breaker;
  return rest;
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
