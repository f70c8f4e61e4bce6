import { defaultFiringPolicy, defaultRetryPolicy, formatDuration, retryOf } from "@carillon/core";
import type { JobCreate } from "../schema/job-create.js";
import type { JobDefinition } from "../schema/job.js";
import type { ScheduleRequest } from "../schema/schedule.js";
import { defaultPriority, defaultQueue, type Moment, normaliseJobRequest } from "./job-request.js";
import { requestOfJob, retryRequest } from "./request-of-job.js";

/** Every field of a definition, in the order in which they are read best, and what holds when nothing is said. */
const usual: Readonly<Record<keyof JobDefinition, unknown>> = {
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

/** A definition as answers show it, or a request in our own spelling, in the words of a person: only what differs from the usual. */
export function plainDefinition(given: JobDefinition | JobCreate): JobCreate {
  const said = { ...given, schedule: scheduleOf(given), retry: retryIn(given), breaker: breakerOf(given) };
  const values = new Map<string, unknown>(Object.entries(said));
  const entries = Object.entries(usual).flatMap(([name, byDefault]) => {
    const value = values.get(name);
    const isSaid = value !== undefined && value !== null && value !== byDefault;
    return isSaid && (name === "payload" || !isEmpty(value)) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/**
 * What a request asks for, in the same words: two requests that mean the same give the same. An instant of any age is taken. Throws one
 * CarillonError that names every fault.
 */
export function plainRequest(body: unknown, moment: Pick<Moment, "now" | "defaultsOf">): JobCreate {
  const { spec } = normaliseJobRequest(body, { ...moment, catchupWindowMs: Number.POSITIVE_INFINITY });
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
