import { CarillonError, type CompiledSchedule, type Instant, type MissedChoice, transitionJob } from "@carillon/core";
import type { PauseRequest } from "../job-changes.js";
import { nextAfter } from "../../schedules/plan-due.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { NextTime, StoredPause } from "@carillon/store";
import type { JobPatch } from "./job-patch.js";
import { latestCome } from "../../schedules/latest-due.js";
import { noteRest, noteThrough } from "../transaction/settle-due.js";

/** Stops the fires of a job whose due occurrences are settled. Null: nothing is left to pause. */
export function applyPause(draft: JobDraft, request: PauseRequest, actor: string | null): JobPatch | null {
  const { now, pause: before } = draft.job;
  const { reason, until, missed } = request;
  if (until !== null && until <= now)
    throw new CarillonError("field_invalid", `a pause until ${isoText(until)} would be over before it begins`);
  const { state, nominal } = draft.due;
  if (state === "paused" && before !== null) {
    draft.set({ fireAt: until });
    return { pause: { ...before, reason, actor, until, missed }, endedAt: null };
  }
  const paused = transitionJob(state, "pause");
  if (!paused.ok) return null;
  const after = nominal === null ? now : nominal - 1;
  draft.set({ state: paused.state, nominal: null, fireAt: until, catchUpTo: null, stateReason: null });
  return { pause: { reason, actor, at: now, until, missed, after }, endedAt: null };
}

/** How many occurrences a pause has swallowed by now. */
export function countSwallowed(schedule: CompiledSchedule, pause: StoredPause, now: Instant): number {
  return schedule.countBetween(pause.after, latestCome(schedule, endOf(pause, now)) + 1);
}

/** A pause is over at its end, however late somebody sees it: what comes after that is late, and not paused. */
function endOf({ until }: StoredPause, now: Instant): Instant {
  return until === null ? now : Math.min(until, now);
}

/** Lets a paused job fire again; answers how many occurrences the pause swallowed. */
export function applyResume(draft: JobDraft, schedule: CompiledSchedule, missed: MissedChoice): number {
  const { pause, now } = draft.job;
  if (pause === null) throw new Error(`job ${draft.job.id} is paused and nothing says since when`);
  const last = Math.max(latestCome(schedule, endOf(pause, now)), pause.after);
  const swallowed = countSwallowed(schedule, pause, now);
  const isTimed = draft.job.schedule.kind !== "manual" && draft.job.schedule.kind !== "after";
  let next: NextTime | null = nextAfter(schedule, last);
  let catchUpTo: Instant | null = null;
  const { maxRuns, firedCount } = draft.due;
  const isSpent = maxRuns !== null && firedCount >= maxRuns;
  if (swallowed > 0 && missed !== "none" && !isSpent) {
    const first = missed === "all" ? schedule.nextNominal(pause.after) : last;
    noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: first - 1 });
    next = { nominal: first, fireAt: first + schedule.jitterAt(first) };
    catchUpTo = last;
  } else noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: last });
  const isOver = isTimed && (next === null || isSpent);
  if (isOver && !isSpent) noteRest(draft, schedule);
  const resumed = transitionJob(draft.due.state, isOver ? "complete" : "resume");
  if (!resumed.ok) throw new Error(`job ${draft.job.id} is ${draft.due.state} and cannot be resumed`);
  const due = isOver ? null : next;
  draft.set({ state: resumed.state, nominal: due?.nominal ?? null, fireAt: due?.fireAt ?? null, catchUpTo });
  return swallowed;
}

function isoText(instant: Instant): string {
  return new Date(instant).toISOString();
}
