import {
  defaultFiringPolicy,
  type DurationMs,
  firingPolicy,
  type Instant,
  type JobSpec,
  ownFiring,
  refuseLongPast,
  storedLabels,
} from "@carillon/core";
import type { CalendarEdition, DueJob, LedgerRange, NewJob, NewRun, NextTime } from "@carillon/store";
import { priorityClass, type RankRun } from "../catalog/rank-run.js";
import { checkConditions } from "../dependencies/conditions.js";
import { type Place, planRun } from "../enqueue/run-enqueuer.js";
import type { ScheduleCache } from "../schedules/schedule-cache.js";
import { type NamedCalendars, restNotes, usesCalendars } from "../schedules/schedule-calendars.js";

/** The rows of a new job: a one-off job without a key and without firing policies is stored as its run alone, one row. */
export type PlannedJob =
  | { readonly kind: "run"; readonly run: NewRun }
  /** `due` is null when the schedule has no occurrence left. */
  | { readonly kind: "job"; readonly job: NewJob; readonly due: DueJob | null };

export interface PlanContext {
  /** The database's clock. */
  readonly now: Instant;
  readonly catchupWindowMs: DurationMs;
  readonly schedules: ScheduleCache;
  readonly calendars: Pick<NamedCalendars, "calendarsOf" | "editionsOf">;
  readonly rank: RankRun;
}

/** Throws a CarillonError for a spec that cannot be stored. */
export function planJob(place: Place, spec: JobSpec, context: PlanContext): PlannedJob {
  if (spec.schedule.kind === "after") checkConditions(spec.schedule);
  if (spec.schedule.kind !== "at") return planDue(place, spec, context);
  refuseLongPast(spec.schedule, spec.firing ?? {}, context);
  return spec.key === undefined && Object.keys(ownFiring(spec.firing ?? {})).length === 0
    ? { kind: "run", run: planRun(place, spec, spec.schedule.at, context.rank) }
    : planDue(place, spec, context);
}

function planDue(place: Place, spec: JobSpec, { now, schedules, calendars }: PlanContext): PlannedJob {
  const { id: jobId, namespaceId, shard } = place;
  const { priority, firing = {} } = spec;
  const editions = usesCalendars(spec.schedule) ? calendars.editionsOf(namespaceId, spec.schedule) : null;
  const rule =
    editions === null
      ? schedules.rule(spec.schedule)
      : schedules.rule(spec.schedule, calendars.calendarsOf(namespaceId));
  const { schedule } = rule;
  const compiled = rule.of(jobId);
  const nominal = compiled.nextNominal(schedule.kind === "at" ? schedule.at - 1 : now);
  const next = nominal === -1 ? null : { nominal, fireAt: nominal + compiled.jitterAt(nominal) };
  const isTimed = schedule.kind !== "manual" && schedule.kind !== "after";
  const urgency = priorityClass(priority);
  // Written out for the same reason as the row of a run.
  const job: NewJob & { calendars?: readonly CalendarEdition[]; removed?: readonly LedgerRange[] } = {
    id: jobId,
    namespaceId,
    shard,
    lane: place.lane,
    key: spec.key ?? null,
    task: spec.task,
    queue: spec.queue,
    priority,
    payload: spec.payload,
    schedule,
    policy: spec.policy,
    labels: storedLabels(spec),
    owner: spec.owner ?? null,
    class: urgency,
    state: next === null && isTimed ? "completed" : "active",
    nextNominal: next?.nominal ?? null,
    nextFireAt: next?.fireAt ?? null,
    maxRuns: "maxRuns" in schedule ? (schedule.maxRuns ?? null) : null,
    firing: ownFiring(firing),
    overlap: firing.overlap ?? defaultFiringPolicy.overlap,
    catchUpTo: schedule.kind === "at" && firing.misfire === "run_once" ? schedule.at : null,
  };
  if (editions !== null) {
    job.calendars = editions;
    if (next === null) job.removed = restNotes(schedule, compiled, now);
  }
  return { kind: "job", job, due: next === null ? null : dueJob(job, next, now) };
}

/** The job as the scheduler's wheel holds it. */
function dueJob(job: NewJob, next: NextTime, now: Instant): DueJob {
  const { id: jobId, shard, namespaceId, schedule, priority, task, queue, labels } = job;
  return {
    jobId,
    shard,
    class: job.class,
    state: "active",
    version: 1,
    nominal: next.nominal,
    fireAt: next.fireAt,
    settledTo: now,
    catchUpTo: job.catchUpTo,
    runsMade: 0,
    definition: {
      namespaceId,
      schedule,
      firing: firingPolicy(job.firing),
      priority,
      task,
      queue,
      labels,
      ...(job.policy.deadlineMs !== undefined && { deadlineMs: job.policy.deadlineMs }),
    },
  };
}
