import { type JobDefinition, slaRequest } from "@carillon/contract";
import {
  askedOf,
  type BreakerPolicy,
  type FiringPolicy,
  firingPolicy,
  formatDuration,
  type RunPolicy,
  type ScheduleSpec,
  timeoutOf,
} from "@carillon/core";
import { wireLimits } from "./limits.js";
import { wireRetry, wireSchedule } from "./schedule.js";

/** What jobs and their earlier definitions have in common. */
export interface Definition {
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

export function wireDefinition(definition: Definition): JobDefinition {
  const { policy } = definition;
  const asked = askedOf(policy.requires);
  const timeoutMs = timeoutOf(policy);
  return {
    key: definition.key,
    task: definition.task,
    payload: definition.payload ?? null,
    schedule: wireSchedule(definition.schedule),
    retry: wireRetry(policy),
    timeout: timeoutMs === null ? null : formatDuration(timeoutMs),
    deadline: policy.deadlineMs === undefined ? null : formatDuration(policy.deadlineMs),
    sla: policy.sla === undefined ? null : slaRequest(policy.sla),
    guarantee: policy.guarantee ?? "at_least_once",
    requires: { ...asked.labels },
    ...wireLimits(policy),
    task_version: asked.version ?? null,
    allow_spot: asked.allowsSpot,
    callbacks: (policy.callbacks ?? []).map(({ on, include, ...to }) => ({
      ...to,
      on: [...on],
      include: [...include],
    })),
    breaker: policy.breaker === undefined ? null : wireBreakerPolicy(asked.breaker ?? definition.task, policy.breaker),
    priority: definition.priority,
    queue: definition.queue,
    ...wireFiring(firingPolicy(definition.firing)),
    labels: { ...definition.labels },
    searchable: [...(policy.searchable ?? [])],
    owner: definition.owner,
  };
}

type WireFiring = Pick<
  JobDefinition,
  "overlap" | "misfire" | "misfire_threshold" | "catchup_window" | "catchup_limit" | "catchup_rate"
>;

function wireFiring(firing: FiringPolicy): WireFiring {
  return {
    overlap: firing.overlap,
    misfire: firing.misfire,
    misfire_threshold: formatDuration(firing.misfireThresholdMs),
    catchup_window: formatDuration(firing.catchupWindowMs),
    catchup_limit: firing.maxCatchupRuns,
    catchup_rate: firing.catchupPerSecond,
  };
}

function wireBreakerPolicy(name: string, breaker: BreakerPolicy): NonNullable<JobDefinition["breaker"]> {
  return {
    name,
    failure_ratio: breaker.failureRatio,
    window: formatDuration(breaker.windowMs),
    min_calls: breaker.minCalls,
    open_for: formatDuration(breaker.openForMs),
  };
}
