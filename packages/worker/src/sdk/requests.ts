import type { JobCreate, RetryRequest, RunCreate, TaskDefaults } from "@carillon/client";
import { instantOf, type TimeInput } from "@carillon/contract/check";
import { CarillonError, formatInstant, present } from "@carillon/core";
import type { ScheduleOptions } from "./app.js";
import {
  type BreakerOptions,
  type EnqueueOptions,
  type RetryOptions,
  type RunDefaults,
  type TaskReference,
  validatePayload,
} from "./task.js";

/** Converts an enqueue call to a request body. Validates the payload with the schema of the task. */
export async function runRequest<Input>(
  task: TaskReference<Input>,
  payload: Input,
  options: EnqueueOptions,
): Promise<RunCreate> {
  const { labels, owner, dedupe, delay, runAt } = options;
  return present({
    task: taskName(task),
    payload: await payloadValue(task, payload),
    ...wireDefaults({ ...taskDefaults(task), ...present(options) }),
    delay,
    run_at: instantText(runAt),
    labels: labels && { ...labels },
    owner,
    dedupe: dedupe && present({ key: dedupe.key, on: dedupe.on, window: dedupe.window }),
  });
}

/** Converts a schedule call to a request body. */
export async function jobRequest<Input>(
  task: TaskReference<Input>,
  options: ScheduleOptions<Input>,
): Promise<JobCreate> {
  const { payload, overlap, misfire, misfireThreshold, catchupWindow, catchupLimit, catchupRate } = options;
  const { labels, owner } = options;
  return present({
    task: taskName(task),
    payload: await payloadValue(task, payload),
    schedule: wireSchedule(options),
    ...wireDefaults({ ...taskDefaults(task), ...present(options) }),
    overlap,
    misfire,
    misfire_threshold: misfireThreshold,
    catchup_window: catchupWindow,
    catchup_limit: catchupLimit,
    catchup_rate: catchupRate,
    labels: labels && { ...labels },
    owner,
  });
}

function wireSchedule(options: Omit<ScheduleOptions<never>, "payload">): NonNullable<JobCreate["schedule"]> {
  const { cron, every, at, manual, after, mode, timeZone, dayMatch, dst, jitter, startsAt, endsAt, maxRuns } = options;
  const { exclude, only, roll } = options.calendars ?? {};
  return present({
    cron,
    every,
    at: instantText(at),
    manual,
    after: after?.map((one) => ({ ...one })),
    mode,
    time_zone: timeZone,
    day_match: dayMatch,
    dst: dst && { ...dst },
    jitter,
    starts_at: instantText(startsAt),
    ends_at: instantText(endsAt),
    max_runs: maxRuns,
    calendars: options.calendars && present({ exclude: exclude && [...exclude], only: only && [...only], roll }),
  });
}

/** Text is sent as it is: it may be a wall time, which the engine reads in the time zone of the schedule. */
function instantText(time: TimeInput | undefined): string | undefined {
  return time === undefined || typeof time === "string" ? time : formatInstant(instantOf(time));
}

function taskName(task: TaskReference<never>): string {
  return typeof task === "string" ? task : task.name;
}

function taskDefaults(task: TaskReference<never>): RunDefaults {
  return typeof task === "string" ? {} : task.defaults;
}

/** The payload before the schema transforms it, reduced to JSON: the worker validates it again. */
async function payloadValue(task: TaskReference<never>, payload: unknown): Promise<unknown> {
  return JSON.parse(await payloadJson(task, payload)) as unknown;
}

/** Validates the payload and returns it as JSON text. Returns a promise only if the task has a schema. */
export function payloadJson(task: TaskReference<never>, payload: unknown): string | Promise<string> {
  if (typeof task === "string" || task.schema === null) return toJson(task, payload);
  return validatePayload(task.name, task.schema, payload).then(() => toJson(task, payload));
}

function toJson(task: TaskReference<never>, payload: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(payload ?? null);
    if (text !== undefined) return text;
  } catch (error) {
    throw new CarillonError("payload_invalid", `The payload of ${taskName(task)} is not JSON: ${String(error)}.`);
  }
  throw new CarillonError("payload_invalid", `The payload of ${taskName(task)} is not JSON.`);
}

/** Converts the run options of a task, a run or a job to their names on the wire. */
export function wireDefaults(defaults: RunDefaults): TaskDefaults {
  const { queue, priority, timeout, deadline, guarantee, retry, requires, taskVersion, allowSpot, sla } = defaults;
  return present({
    queue,
    priority,
    timeout,
    deadline,
    sla: sla && present({ start_within: sla.startWithin, finish_within: sla.finishWithin }),
    guarantee,
    retry: retry && wireRetry(retry),
    requires: requires && { ...requires },
    concurrency: defaults.concurrency && { ...defaults.concurrency },
    rate_limit: defaults.rateLimit && { ...defaults.rateLimit },
    ordering_key: defaults.orderingKey,
    ordering_on_failure: defaults.orderingOnFailure,
    callbacks: defaults.callbacks?.map(({ on, include, ...target }) => ({
      ...target,
      ...(on && { on: [...on] }),
      ...(include && { include: [...include] }),
    })),
    searchable: defaults.searchable && [...defaults.searchable],
    breaker: defaults.breaker && wireBreaker(defaults.breaker),
    task_version: taskVersion,
    allow_spot: allowSpot,
  });
}

function wireRetry({ maxAttempts, backoff, initial, factor, max, jitter, nonRetryable }: RetryOptions): RetryRequest {
  return present({
    max_attempts: maxAttempts,
    backoff,
    initial,
    factor,
    max,
    jitter,
    non_retryable: nonRetryable && [...nonRetryable],
  });
}

function wireBreaker({
  name,
  failureRatio,
  window,
  minCalls,
  openFor,
}: BreakerOptions): NonNullable<RunCreate["breaker"]> {
  return present({ name, failure_ratio: failureRatio, window, min_calls: minCalls, open_for: openFor });
}
