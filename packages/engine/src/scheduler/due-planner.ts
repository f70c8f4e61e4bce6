import { type CompiledSchedule, type Instant, scheduledRunId } from "@carillon/core";
import type { DueJob, FireRow, HoldRow, LedgerRange, PassRow } from "@carillon/store";
import type { RankRun } from "../catalog/rank-run.js";
import type { WindowCache } from "../schedules/due-rules.js";
import { type DuePlan, planDue } from "../schedules/plan-due.js";
import type { ScheduleCache } from "../schedules/schedule-cache.js";
import { calendarNotes, type CalendarSource, usesCalendars } from "../schedules/schedule-calendars.js";

/** A job that cannot be planned, and why. */
export interface BrokenJob {
  readonly job: DueJob;
  readonly error: unknown;
}

/** The writes for a batch of due jobs. */
export interface DueSteps {
  /** The revision of the maintenance windows by which the steps were planned. */
  readonly windows: number;
  /** The time at which the steps were planned. */
  readonly asOf: Instant;
  /** Fires of jobs with overlap allow or skip. */
  readonly fires: FireRow[];
  /** Fires of jobs whose runs wait for each other or replace each other. */
  readonly settles: FireRow[];
  readonly passes: PassRow[];
  readonly holds: HoldRow[];
  /** Jobs whose pause has expired. */
  readonly expired: DueJob[];
  readonly broken: BrokenJob[];
}

export interface DuePlannerOptions {
  readonly schedules: ScheduleCache;
  readonly calendars: CalendarSource;
  readonly maintenance: WindowCache;
  readonly rank: RankRun;
}

/** Plans the writes for due jobs from the rows that this node has read. The statements compare those with the stored rows. */
export class DuePlanner {
  readonly #options: DuePlannerOptions;

  constructor(options: DuePlannerOptions) {
    this.#options = options;
  }

  /** `windows` is the revision that was read before the calendars of the jobs were checked. */
  plan(jobs: readonly DueJob[], now: Instant, windows: number): DueSteps {
    const steps: DueSteps = {
      windows,
      asOf: now,
      fires: [],
      settles: [],
      passes: [],
      holds: [],
      expired: [],
      broken: [],
    };
    for (const job of jobs) {
      if (job.state === "paused") steps.expired.push(job);
      else {
        try {
          this.#add(steps, job, now);
        } catch (error) {
          steps.broken.push({ job, error });
        }
      }
    }
    return steps;
  }

  #add(steps: DueSteps, job: DueJob, now: Instant): void {
    const { definition, nominal, catchUpTo } = job;
    const schedule = this.#scheduleOf(job);
    const policy = definition.firing;
    const windowAt = this.#options.maintenance.of(definition);
    const plan = planDue({ nominal, schedule, policy, catchUpTo, windowAt }, now);
    switch (plan.kind) {
      case "hold":
        steps.holds.push({ job, until: plan.until });
        return;
      case "pass":
        steps.passes.push(passRow(job, schedule, plan));
        return;
      default: {
        const isSimple = policy.overlap === "allow" || policy.overlap === "skip";
        (isSimple ? steps.fires : steps.settles).push(this.#fireRow(job, schedule, plan));
      }
    }
  }

  #fireRow(job: DueJob, schedule: CompiledSchedule, plan: DuePlan & { kind: "fire" }): FireRow {
    const { jobId, nominal, fireAt, runsMade, definition } = job;
    const { namespaceId, queue, task, priority, deadlineMs: withinMs } = definition;
    const deadlineMs = withinMs === undefined ? undefined : nominal + withinMs;
    return {
      job,
      runId: scheduledRunId({ jobId, schedule: definition.schedule, nominal, runsMade }),
      rank: this.#options.rank({ namespaceId, queue, task, dueMs: fireAt, priority, deadlineMs }),
      next: plan.next,
      catchUpTo: plan.catchUpTo,
      notes: notesOf(job, schedule, { through: nominal, isLast: plan.next === null }),
    };
  }

  #scheduleOf(job: DueJob): CompiledSchedule {
    const { jobId } = job;
    const { schedule, namespaceId } = job.definition;
    const { schedules, calendars } = this.#options;
    if (!usesCalendars(schedule)) return schedules.of({ jobId, schedule });
    return schedules.of({ jobId, schedule, calendars: calendars.calendarsOf(namespaceId) });
  }
}

function passRow(job: DueJob, schedule: CompiledSchedule, plan: DuePlan & { kind: "pass" }): PassRow {
  const { reason, through, count, detail, next, catchUpTo } = plan;
  const range: LedgerRange = { reason, from: job.nominal, to: through, count, detail };
  return { job, range, next, catchUpTo, notes: notesOf(job, schedule, { through, isLast: next === null }) };
}

const nothing: readonly LedgerRange[] = [];

function notesOf(
  { definition, settledTo, nominal }: DueJob,
  schedule: CompiledSchedule,
  to: { readonly through: Instant; readonly isLast: boolean },
): readonly LedgerRange[] {
  if (!usesCalendars(definition.schedule)) return nothing;
  return calendarNotes({ spec: definition.schedule, schedule, settledTo, nominal, ...to });
}
