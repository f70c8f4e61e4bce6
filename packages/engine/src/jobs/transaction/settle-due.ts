import { type CompiledSchedule, firingPolicy, type Instant, type LedgerReason } from "@carillon/core";
import { calendarNotes, endOf, removedIn } from "../../schedules/calendar-notes.js";
import { type DuePlan, planDue } from "../../schedules/plan-due.js";
import type { JobDraft } from "./job-draft.js";
import type { DueRules } from "../../schedules/due-rules.js";

/** Steps of one settlement: a job that was away for long has more due than one transaction should write. */
const mostSteps = 1_000;

/**
 * Settles every occurrence that is due by the database's clock under the present definition, as the scheduler would:
 * run or ledger. What is still held or paced afterwards stays the next occurrence.
 */
export function settleDue(draft: JobDraft, schedule: CompiledSchedule, rules: DueRules): void {
  const { now, firing } = draft.job;
  const policy = firingPolicy(firing);
  const windowAt = rules.windowAt(draft.job);
  for (let step = 0; draft.isDue && step < mostSteps; step += 1) {
    const { nominal, catchUpTo } = draft.due;
    if (nominal === null) return;
    const plan = planDue({ nominal, schedule, policy, catchUpTo, windowAt }, now);
    if (plan.kind === "hold") draft.set({ fireAt: plan.until, stateReason: `held ${rules.revision}` });
    else settleOne(draft, schedule, plan, nominal);
  }
}

function settleOne(
  draft: JobDraft,
  schedule: CompiledSchedule,
  plan: DuePlan & { kind: "fire" | "pass" },
  nominal: Instant,
): void {
  const settledTo = settledBefore(draft);
  const through = plan.kind === "fire" ? nominal : plan.through;
  if (plan.catchUpTo !== null) draft.set({ catchUpTo: plan.catchUpTo });
  if (plan.kind === "fire") draft.fire(plan.next);
  else {
    draft.note({ ...plan, from: nominal, to: through });
    draft.moveTo(through, plan.next);
  }
  const step = { spec: draft.job.schedule, schedule, settledTo, nominal, through };
  for (const note of calendarNotes({ ...step, isLast: plan.next === null })) draft.noteApart(note);
}

/** Up to here everything is noted, what calendars took from the schedule included. */
function settledBefore({ due, job }: JobDraft): Instant {
  return Math.max(due.firedThrough ?? 0, job.definedAt ?? job.createdAt);
}

/** Occurrences that have come and were not settled (held, paced, or too many) go to the ledger: another rule is in force. */
export function supersedePending(draft: JobDraft, schedule: CompiledSchedule | null): void {
  const { nominal } = draft.due;
  const { now } = draft.job;
  const reason = "superseded";
  if (draft.due.state !== "active" || nominal === null || nominal > now) return;
  if (schedule === null) draft.note({ reason, from: nominal, to: nominal, count: 1 });
  else noteThrough(draft, schedule, { reason, after: nominal - 1, through: now });
}

export interface Swallowed {
  readonly reason: LedgerReason;
  /** Not included. */
  readonly after: Instant;
  /** Included. */
  readonly through: Instant;
}

/** Notes what lies in a span as one range and moves past it; answers how many there were. */
export function noteThrough(draft: JobDraft, schedule: CompiledSchedule, swallowed: Swallowed): number {
  const { reason, after, through } = swallowed;
  const from = schedule.nextNominal(after);
  const to = schedule.previousNominal(through + 1);
  if (from === -1 || to < from) return 0;
  const count = schedule.countBetween(after, to + 1);
  draft.note({ reason, from, to, count });
  const step = { spec: draft.job.schedule, schedule, settledTo: settledBefore(draft), nominal: from, through: to };
  for (const note of calendarNotes({ ...step, isLast: false })) draft.noteApart(note);
  draft.set({ firedThrough: Math.max(draft.due.firedThrough ?? to, to) });
  return count;
}

/**
 * What calendars took from a rule since its last occurrence, up to now: for a rule that is about to be replaced, since nothing
 * of it comes that would bring this into the ledger. Answers the last instant of it; null: there was none.
 */
export function noteRemoved(draft: JobDraft, schedule: CompiledSchedule): Instant | null {
  const removed = removedIn(schedule, settledBefore(draft), draft.job.now);
  for (const note of removed) draft.noteApart(note);
  return removed.at(-1)?.to ?? null;
}

/** The same up to the end of a schedule that has nothing left to fire. */
export function noteRest(draft: JobDraft, schedule: CompiledSchedule): void {
  const end = endOf(draft.job.schedule);
  if (end === undefined) return;
  for (const note of removedIn(schedule, settledBefore(draft), end)) draft.noteApart(note);
}
