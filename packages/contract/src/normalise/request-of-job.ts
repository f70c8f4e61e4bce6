import {
  askedOf,
  type CalendarRule,
  formatDuration,
  formatInstant,
  type JobSpec,
  type RateLimit,
  type RetryPolicy,
  type RunLimits,
  type RunPolicy,
  type Sla,
  type ScheduleSpec,
} from "@carillon/core";
import type { JobCreate } from "../schema/job-create.js";
import type { RetryRequest } from "../schema/retry.js";
import type { ScheduleRequest } from "../schema/schedule.js";

/** The request that a job's definition stands for: normalised again it gives the same definition. */
export function requestOfJob(spec: JobSpec): JobCreate {
  const { key, task, queue, priority, payload, policy, labels, owner, firing = {} } = spec;
  const { overlap, misfire, misfireThresholdMs, catchupWindowMs, maxCatchupRuns, catchupPerSecond } = firing;
  return {
    ...(key !== undefined && { key }),
    task,
    queue,
    priority,
    payload,
    schedule: scheduleRequest(spec.schedule),
    ...(policy.retry && { retry: retryRequest(policy.retry) }),
    ...(policy.timeoutMs !== undefined && { timeout: formatDuration(policy.timeoutMs) }),
    ...(policy.deadlineMs !== undefined && { deadline: formatDuration(policy.deadlineMs) }),
    ...(policy.sla !== undefined && { sla: slaRequest(policy.sla) }),
    ...(policy.guarantee !== undefined && { guarantee: policy.guarantee }),
    ...requiresRequest(policy.requires),
    ...breakerRequest(policy),
    ...limitsRequest(policy),
    ...(policy.callbacks && {
      callbacks: policy.callbacks.map(({ on, include, ...to }) => ({ ...to, on: [...on], include: [...include] })),
    }),
    ...(overlap !== undefined && { overlap }),
    ...(misfire !== undefined && { misfire }),
    ...(misfireThresholdMs !== undefined && { misfire_threshold: formatDuration(misfireThresholdMs) }),
    ...(catchupWindowMs !== undefined && { catchup_window: formatDuration(catchupWindowMs) }),
    ...(maxCatchupRuns !== undefined && { catchup_limit: maxCatchupRuns }),
    ...(catchupPerSecond !== undefined && { catchup_rate: catchupPerSecond }),
    labels: { ...labels },
    ...(policy.searchable !== undefined && { searchable: [...policy.searchable] }),
    ...(owner !== undefined && { owner }),
  };
}

function limitsRequest({ concurrency, rateLimit, ordering }: RunLimits): Partial<JobCreate> {
  return {
    ...(concurrency !== undefined && { concurrency: { ...concurrency } }),
    ...(rateLimit !== undefined && { rate_limit: rateRequest(rateLimit) }),
    ...(ordering !== undefined && { ordering_key: ordering.key }),
    ...(ordering?.onFailure !== undefined && { ordering_on_failure: ordering.onFailure }),
  };
}

function rateRequest({ perMs, ...rest }: RateLimit): NonNullable<JobCreate["rate_limit"]> {
  return { ...rest, per: formatDuration(perMs) };
}

function requiresRequest(requires: Readonly<Record<string, string>> = {}): Partial<JobCreate> {
  const { labels, version, allowsSpot } = askedOf(requires);
  return {
    ...(Object.keys(labels).length > 0 && { requires: { ...labels } }),
    ...(version !== undefined && { task_version: version }),
    ...(allowsSpot && { allow_spot: true }),
  };
}

function breakerRequest({ breaker, requires }: RunPolicy): Partial<JobCreate> {
  if (breaker === undefined) return {};
  const name = askedOf(requires).breaker ?? undefined;
  const { failureRatio, windowMs, minCalls, openForMs } = breaker;
  const times = { window: formatDuration(windowMs), open_for: formatDuration(openForMs) };
  return {
    breaker: { ...(name !== undefined && { name }), failure_ratio: failureRatio, min_calls: minCalls, ...times },
  };
}

function scheduleRequest(schedule: ScheduleSpec): ScheduleRequest {
  switch (schedule.kind) {
    case "at":
      return { at: formatInstant(schedule.at) };
    case "manual":
      return { manual: true };
    case "after":
      return {
        after: schedule.after.map((one) => ({ ...one })),
        ...(schedule.mode !== undefined && { mode: schedule.mode }),
      };
    default: {
      const { timeZone, startsAt, endsAt, maxRuns, jitterMs, calendars } = schedule;
      const rule =
        schedule.kind === "every"
          ? { every: formatDuration(schedule.everyMs) }
          : {
              cron: schedule.cron,
              ...(schedule.dayMatch !== undefined && { day_match: schedule.dayMatch }),
              ...(schedule.dst !== undefined && { dst: { ...schedule.dst } }),
            };
      return {
        ...rule,
        ...(timeZone !== undefined && { time_zone: timeZone }),
        ...(startsAt !== undefined && { starts_at: formatInstant(startsAt) }),
        ...(endsAt !== undefined && { ends_at: formatInstant(endsAt) }),
        ...(maxRuns !== undefined && { max_runs: maxRuns }),
        ...(jitterMs !== undefined && { jitter: formatDuration(jitterMs) }),
        ...(calendars !== undefined && { calendars: calendarRequest(calendars) }),
      };
    }
  }
}

function calendarRequest({ exclude, only, roll }: CalendarRule): NonNullable<ScheduleRequest["calendars"]> {
  return {
    ...(exclude !== undefined && { exclude: [...exclude] }),
    ...(only !== undefined && { only: [...only] }),
    ...(roll !== undefined && { roll }),
  };
}

/** As requests and answers have it. */
export function slaRequest({ startWithinMs, finishWithinMs }: Sla): NonNullable<JobCreate["sla"]> {
  return {
    ...(startWithinMs !== undefined && { start_within: formatDuration(startWithinMs) }),
    ...(finishWithinMs !== undefined && { finish_within: formatDuration(finishWithinMs) }),
  };
}

export function retryRequest(retry: Partial<RetryPolicy>): RetryRequest {
  const { maxAttempts, backoff, initialMs, factor, maxMs, jitter, nonRetryable } = retry;
  return {
    ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
    ...(backoff !== undefined && { backoff }),
    ...(initialMs !== undefined && { initial: formatDuration(initialMs) }),
    ...(factor !== undefined && { factor }),
    ...(maxMs !== undefined && { max: formatDuration(maxMs) }),
    ...(jitter !== undefined && { jitter }),
    ...(nonRetryable !== undefined && { non_retryable: [...nonRetryable] }),
  };
}
