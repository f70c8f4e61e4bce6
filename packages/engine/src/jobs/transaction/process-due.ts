import { type CompiledSchedule, firingPolicy, type Instant, type LedgerReason } from "@carillon/core";
import { calendarNotes, endOf, removedIn } from "../../schedules/calendar-notes.js";
import { type DuePlan, planDue } from "../../schedules/plan-due.js";
import type { JobDraft } from "./job-draft.js";
import type { DueRules } from "../../schedules/due-rules.js";

/** After a long outage a job has more due occurrences than one transaction should write. */
const maxSteps = 1_000;

/**
 * Decides every occurrence that is due by the database's clock under the present definition, as the scheduler would: a run or an entry of
 * the ledger. An occurrence that is still held or paced afterwards stays the next one.
 */
export function processDue(
  draft: JobDraft,
  schedule: CompiledSchedule,
  rules: Pick<DueRules, "revision" | "windowAt">,
): void {
  const { now, firing } = draft.job;
  const policy = firingPolicy(firing);
  const windowAt = rules.windowAt(draft.job);
  for (let step = 0; draft.isDue && step < maxSteps; step += 1) {
    const { nominal, catchUpTo } = draft.due;
    if (nominal === null) return;
    const plan = planDue({ nominal, schedule, policy, catchUpTo, windowAt }, now);
    if (plan.kind === "hold") draft.set({ fireAt: plan.until, stateReason: `held ${rules.revision}` });
    else processOne(draft, schedule, plan, nominal);
  }
}

function processOne(
  draft: JobDraft,
  schedule: CompiledSchedule,
  plan: DuePlan & { kind: "fire" | "pass" },
  nominal: Instant,
): void {
  const settledTo = processedBefore(draft);
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

/** Up to here every occurrence is decided, and instants that calendars removed are in the ledger. */
function processedBefore({ due, job }: JobDraft): Instant {
  return Math.max(due.firedThrough ?? 0, job.definedAt ?? job.createdAt);
}

/** Due occurrences that are still undecided (held, paced, or too many) go to the ledger: another rule is in force now. */
export function supersedePending(draft: JobDraft, schedule: CompiledSchedule | null): void {
  const { nominal } = draft.due;
  const { now } = draft.job;
  const reason = "superseded";
  if (draft.due.state !== "active" || nominal === null || nominal > now) return;
  if (schedule === null) draft.note({ reason, from: nominal, to: nominal, count: 1 });
  else noteThrough(draft, schedule, { reason, after: nominal - 1, through: now });
}

export interface LedgerSpan {
  readonly reason: LedgerReason;
  /** Not included. */
  readonly after: Instant;
  /** Included. */
  readonly through: Instant;
}

/** Adds the occurrences of a span to the ledger as one range and moves past it; returns how many there were. */
export function noteThrough(draft: JobDraft, schedule: CompiledSchedule, span: LedgerSpan): number {
  const { reason, after, through } = span;
  const from = schedule.nextNominal(after);
  const to = schedule.previousNominal(through + 1);
  if (from === -1 || to < from) return 0;
  const count = schedule.countBetween(after, to + 1);
  draft.note({ reason, from, to, count });
  const step = { spec: draft.job.schedule, schedule, settledTo: processedBefore(draft), nominal: from, through: to };
  for (const note of calendarNotes({ ...step, isLast: false })) draft.noteApart(note);
  draft.set({ firedThrough: Math.max(draft.due.firedThrough ?? to, to) });
  return count;
}

/**
 * Adds the instants that calendars removed since the last occurrence, up to now, to the ledger: the rule is about to be replaced, and no
 * later occurrence of it would add them. Returns the last such instant; null: there was none.
 */
export function noteRemoved(draft: JobDraft, schedule: CompiledSchedule): Instant | null {
  const removed = removedIn(schedule, processedBefore(draft), draft.job.now);
  for (const note of removed) draft.noteApart(note);
  return removed.at(-1)?.to ?? null;
}

/** Does the same up to the end of a schedule that has no occurrence left. */
export function noteRest(draft: JobDraft, schedule: CompiledSchedule): void {
  const end = endOf(draft.job.schedule);
  if (end === undefined) return;
  for (const note of removedIn(schedule, processedBefore(draft), end)) draft.noteApart(note);
}
