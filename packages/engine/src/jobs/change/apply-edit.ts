import { CarillonError, type CompiledSchedule, firingPolicy, type Instant, type JobSpec } from "@carillon/core";
import { nextAfter } from "../../schedules/plan-due.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { NextTime, StoredPause } from "@carillon/store";
import { priorityClass } from "../../catalog/priority-class.js";
import { refuseLongPast } from "../plan-job.js";
import { isSameSchedule, specOf } from "./definition.js";
import type { JobPatch } from "./job-patch.js";
import { noteRemoved, noteThrough, supersedePending } from "../transaction/settle-due.js";

export interface NewRule {
  readonly spec: JobSpec;
  readonly lane: number;
  readonly compiled: CompiledSchedule;
}

/** Replaces the definition of a job whose due occurrences are settled. `old` is null where the old rule cannot be read. */
export function applyEdit(draft: JobDraft, old: CompiledSchedule | null, rule: NewRule): JobPatch {
  const current = specOf(draft.job);
  const { spec, lane } = rule;
  if (spec.key !== current.key)
    throw new CarillonError("field_invalid", "a job keeps its key: make another job, or leave the key as it is");
  const isOver = draft.due.state === "completed";
  let { pause } = draft.job;
  if (!isSameSchedule(current, spec)) {
    refuseOldInstant(draft, spec);
    if (draft.due.state === "paused" && pause !== null) pause = restartPause(draft, pause, old, rule);
    else if (!keepPending(draft, old, rule)) {
      supersedePending(draft, old);
      startRule(draft, rule);
    }
  } else if (draft.due.stateReason !== null) release(draft);
  if (old !== null && !isOver) noteRemoved(draft, old);
  draft.set({
    class: priorityClass(spec.priority),
    maxRuns: "maxRuns" in spec.schedule ? (spec.schedule.maxRuns ?? null) : null,
  });
  const { overlap } = firingPolicy(spec.firing ?? {});
  if (overlap !== draft.due.overlap) draft.track(overlap);
  return { pause, endedAt: null, definition: { spec, lane } };
}

/** What the old rule lost to the pause is noted; the pause swallows what the new one names from now on. */
function restartPause(
  draft: JobDraft,
  pause: StoredPause,
  old: CompiledSchedule | null,
  { spec }: NewRule,
): StoredPause {
  const { now } = draft.job;
  if (old !== null) noteThrough(draft, old, { reason: "paused", after: pause.after, through: now });
  return { ...pause, after: settledBy(draft, spec) };
}

/** What waits in a window may be held no longer: the next fire decides anew, by the new queue and labels. */
function release(draft: JobDraft): void {
  draft.set({ fireAt: draft.due.nominal, stateReason: null });
}

/** An occurrence that has come and waits (held, or within its jitter) stays if it is the latest of both rules. */
function keepPending(draft: JobDraft, old: CompiledSchedule | null, { spec, compiled }: NewRule): boolean {
  const { state, nominal } = draft.due;
  const { now } = draft.job;
  if (old === null || state !== "active" || nominal === null || nominal > now || isSpent(draft, spec)) return false;
  const isOfBoth = compiled.nextNominal(nominal - 1) === nominal;
  const isLatest = [old, compiled].every((rule) => {
    const next = rule.nextNominal(nominal);
    return next === -1 || next > now;
  });
  if (isOfBoth && isLatest) draft.set({ fireAt: nominal + compiled.jitterAt(nominal), stateReason: null });
  return isOfBoth && isLatest;
}

/** Instants of a new rule up to here do not fire. */
function settledBy(draft: JobDraft, { schedule }: JobSpec): Instant {
  return Math.max(draft.due.firedThrough ?? -1, schedule.kind === "at" ? schedule.at - 1 : draft.job.now);
}

function isSpent(draft: JobDraft, { schedule }: JobSpec): boolean {
  const maxRuns = "maxRuns" in schedule ? (schedule.maxRuns ?? null) : null;
  return maxRuns !== null && draft.due.firedCount >= maxRuns;
}

/** The new rule counts from now on: instants in the past that only it names do not fire. */
function startRule(draft: JobDraft, { spec, compiled }: NewRule): void {
  const { schedule } = spec;
  const next: NextTime | null = isSpent(draft, spec) ? null : nextAfter(compiled, settledBy(draft, spec));
  const isTimed = schedule.kind !== "manual" && schedule.kind !== "after";
  const isForced = schedule.kind === "at" && spec.firing?.misfire === "run_once";
  const catchUpTo: Instant | null = isForced && next !== null ? schedule.at : null;
  draft.set({
    state: next === null && isTimed ? "completed" : "active",
    nominal: next?.nominal ?? null,
    fireAt: next?.fireAt ?? null,
    catchUpTo,
    stateReason: null,
  });
}

/** As for a new job, unless it has fired by then: such an instant is over, whoever names it. */
function refuseOldInstant(draft: JobDraft, spec: JobSpec): void {
  const { schedule, firing = {} } = spec;
  if (schedule.kind !== "at" || schedule.at <= (draft.due.firedThrough ?? -1)) return;
  const { catchupWindowMs } = firingPolicy(firing);
  refuseLongPast(schedule, firing, { now: draft.job.now, catchupWindowMs });
}
