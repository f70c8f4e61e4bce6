import type { RetryRequest, RunCreate, TaskDefaults } from "@carillon/client";
import { type BreakerOptions, type RetryOptions, type RunDefaults, withoutAbsent } from "./task.js";

/** What a task, a run or a job says about runs, in the words of the wire. */
export function wireDefaults(defaults: RunDefaults): TaskDefaults {
  const { queue, priority, timeout, deadline, guarantee, retry, requires, taskVersion, allowSpot, sla } = defaults;
  return withoutAbsent({
    queue,
    priority,
    timeout,
    deadline,
    sla: sla && withoutAbsent({ start_within: sla.startWithin, finish_within: sla.finishWithin }),
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
  return withoutAbsent({
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
  return withoutAbsent({ name, failure_ratio: failureRatio, window, min_calls: minCalls, open_for: openFor });
}
