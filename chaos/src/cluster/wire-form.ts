import type { DependentJob, DependentChange } from "../plan/dependent-job.js";
import type { Change, ChaosJob, Rule } from "../plan/job.js";
import type { ChaosWindow } from "../plan/constraints.js";
import type { ApiCall } from "./api-caller.js";

/** The calendar that jobs exclude. */
export const calendarName = "closing-days";

const instant = (at: number): string => new Date(at).toISOString();

function wireRule(rule: Rule): object {
  if (rule.kind === "never") throw new Error("A rule without instants cannot be sent.");
  if (rule.kind === "at") return { at: instant(rule.at) };
  const endsAt = instant(rule.endsAt);
  if (rule.kind === "cron") return { cron: rule.cron, time_zone: rule.timeZone, ends_at: endsAt };
  return { every: `${rule.everyMs}ms`, starts_at: instant(rule.startsAt), ends_at: endsAt };
}

/** Without an end: a job with no occurrences left when its calendar closes would end for good. */
const followed = { ends_at: undefined, calendars: { exclude: [calendarName] } };

export function wireWindow({ mode, from, to }: ChaosWindow): object {
  return { mode, labels: { window: mode }, from: instant(from), to: instant(to) };
}

const workPolicies = {
  retry: { max_attempts: 20, backoff: "fixed", initial: "500ms" },
  // Longer than any work takes, so only a hanging attempt reaches it.
  timeout: "15s",
};

/** The request body that creates a job whose work is done at the URL. */
export function wireJob(job: ChaosJob, url: string): object {
  const { policy, thresholdMs } = job.misfire;
  return {
    task: "http",
    payload: { url },
    schedule: job.excludesCalendar ? { ...wireRule(job.rule), ...followed } : wireRule(job.rule),
    ...(job.window === null ? {} : { labels: { window: job.window.mode } }),
    ...workPolicies,
    ...(job.rule.kind === "at" ? {} : { overlap: job.overlap, misfire: policy, misfire_threshold: `${thresholdMs}ms` }),
  };
}

/** The request body that creates a dependent job whose work is done at the URL. */
export function wireDependent(dependent: DependentJob, upstream: readonly string[], url: string): object {
  return {
    task: "http",
    payload: { url },
    schedule: wireAfter(dependent, upstream),
    ...workPolicies,
    overlap: "allow",
  };
}

function wireAfter({ on, mode }: Pick<DependentJob, "on" | "mode">, upstream: readonly string[]): object {
  return { after: upstream.map((job) => ({ job, on })), ...(upstream.length > 1 && { mode }) };
}

/** Builds the requests that change a dependent job of these upstream jobs. */
export function wireDependentChange(
  { mode }: DependentJob,
  upstream: readonly string[],
): (id: string, change: DependentChange) => ApiCall {
  return (id, change) =>
    change.kind === "edit"
      ? { method: "PATCH", path: `/v1/jobs/${id}`, body: { schedule: wireAfter({ on: change.on, mode }, upstream) } }
      : wireChange(id, change);
}

export function wireChange(id: string, change: Change): ApiCall {
  const path = `/v1/jobs/${id}`;
  switch (change.kind) {
    case "edit":
      return { method: "PATCH", path, body: { schedule: wireRule(change.rule) } };
    case "pause": {
      const { until, missed } = change;
      return {
        method: "POST",
        path: `${path}:pause`,
        body: { missed, ...(until === null ? {} : { until: instant(until) }) },
      };
    }
    case "resume":
      return { method: "POST", path: `${path}:resume`, body: { missed: change.missed } };
    default:
      return { method: "POST", path: `${path}:cancel`, body: { running: change.running } };
  }
}
