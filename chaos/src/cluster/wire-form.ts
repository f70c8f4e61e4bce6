import type { Change } from "../plan/change.js";
import type { ChaosJob } from "../plan/job.js";
import type { Rule } from "../plan/rule.js";
import type { ApiCall } from "./api-caller.js";

const instant = (at: number): string => new Date(at).toISOString();

function wireRule(rule: Rule): object {
  if (rule.kind === "at") return { at: instant(rule.at) };
  const endsAt = instant(rule.endsAt);
  if (rule.kind === "cron") return { cron: rule.cron, time_zone: rule.timeZone, ends_at: endsAt };
  return { every: `${rule.everyMs}ms`, starts_at: instant(rule.startsAt), ends_at: endsAt };
}

/** The request that makes a job whose work is done at the URL. */
export function wireJob(job: ChaosJob, url: string): object {
  const { policy, thresholdMs } = job.misfire;
  return {
    task: "http",
    payload: { url },
    schedule: wireRule(job.rule),
    retry: { max_attempts: 20, backoff: "fixed", initial: "500ms" },
    ...(job.rule.kind === "at" ? {} : { overlap: job.overlap, misfire: policy, misfire_threshold: `${thresholdMs}ms` }),
  };
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
