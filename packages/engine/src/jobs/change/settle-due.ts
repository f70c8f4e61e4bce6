import { type CompiledSchedule, firingPolicy, type Instant, type LedgerReason } from "@carillon/core";
import { calendarNotes } from "../../scheduler/calendar-notes.js";
import { type DuePlan, planDue } from "../../scheduler/plan-due.js";
import type { JobDraft } from "../../settlement/job-draft.js";
import type { DueRules } from "./due-rules.js";

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
  const { definedAt, createdAt } = draft.job;
  const settledTo = Math.max(draft.due.firedThrough ?? 0, definedAt ?? createdAt);
  const through = plan.kind === "fire" ? nominal : plan.through;
  if (plan.catchUpTo !== null) draft.set({ catchUpTo: plan.catchUpTo });
  if (plan.kind === "fire") draft.fire(plan.next);
  else {
    draft.note({ ...plan, from: nominal, to: through });
    draft.moveTo(through, plan.next);
  }
  const step = { spec: draft.job.schedule, schedule, settledTo, nominal, through, next: plan.next };
  for (const note of calendarNotes(step)) draft.noteApart(note);
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
  draft.set({ firedThrough: Math.max(draft.due.firedThrough ?? to, to) });
  return count;
}
