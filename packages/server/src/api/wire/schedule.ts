import type { Retry, Schedule } from "@carillon/contract";
import {
  type CalendarRule,
  formatDuration,
  retryOf,
  type RunPolicy,
  type ScheduleBounds,
  type ScheduleSpec,
} from "@carillon/core";
import { timestamp } from "../timestamp.js";

export function wireSchedule(schedule: ScheduleSpec): Schedule {
  switch (schedule.kind) {
    case "cron":
      return {
        cron: schedule.cron,
        time_zone: schedule.timeZone,
        ...(schedule.dayMatch !== undefined && { day_match: schedule.dayMatch }),
        ...(schedule.dst !== undefined && { dst: { ...schedule.dst } }),
        ...wireBounds(schedule),
      };
    case "every":
      return {
        every: formatDuration(schedule.everyMs),
        anchor: timestamp(schedule.anchor),
        ...(schedule.timeZone !== undefined && { time_zone: schedule.timeZone }),
        ...wireBounds(schedule),
      };
    case "at":
      return { at: timestamp(schedule.at) };
    case "manual":
      return { manual: true };
    default:
      return {
        after: schedule.after.map((one) => ({ ...one })),
        ...(schedule.mode !== undefined && { mode: schedule.mode }),
      };
  }
}

function wireBounds({ startsAt, endsAt, maxRuns, jitterMs, calendars }: ScheduleBounds): Schedule {
  return {
    ...(startsAt !== undefined && { starts_at: timestamp(startsAt) }),
    ...(endsAt !== undefined && { ends_at: timestamp(endsAt) }),
    ...(maxRuns !== undefined && { max_runs: maxRuns }),
    ...(jitterMs !== undefined && { jitter: formatDuration(jitterMs) }),
    ...(calendars !== undefined && { calendars: wireCalendars(calendars) }),
  };
}

function wireCalendars({ exclude, only, roll }: CalendarRule): NonNullable<Schedule["calendars"]> {
  return {
    ...(exclude !== undefined && { exclude: [...exclude] }),
    ...(only !== undefined && { only: [...only] }),
    ...(roll !== undefined && { roll }),
  };
}

/** The policy in force: what the user gave, over the product's defaults. */
export function wireRetry(policy: RunPolicy): Retry {
  const retry = retryOf(policy);
  return {
    max_attempts: retry.maxAttempts,
    backoff: retry.backoff,
    initial: formatDuration(retry.initialMs),
    factor: retry.factor,
    max: formatDuration(retry.maxMs),
    jitter: retry.jitter,
    non_retryable: [...retry.nonRetryable],
  };
}
