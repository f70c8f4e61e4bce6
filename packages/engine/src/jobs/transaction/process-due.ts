import {
  type CompiledSchedule,
  firingPolicy,
  type Instant,
  type LedgerReason,
  type ScheduleSpec,
} from "@carillon/core";
import type { DueRules } from "../../schedules/due-rules.js";
import { type DuePlan, planDue } from "../../schedules/plan-due.js";
import { calendarNotes, endOf, removedIn, restNotes } from "../../schedules/schedule-calendars.js";
import type { JobDraft } from "./job-draft.js";

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
 * Adds the instants that calendars removed since the last occurrence, up to now, to the ledger, for a change after which no later occurrence
 * adds them. A completed job has them already, up to the end of its schedule. Returns the last such instant; null: there was none.
 */
export function noteRemoved(draft: JobDraft, schedule: CompiledSchedule): Instant | null {
  const { state, maxRuns, firedCount } = draft.due;
  // A job with all its runs made has no instants left that a calendar could remove.
  if (maxRuns !== null && firedCount >= maxRuns) return null;
  const isNoted = state === "completed" && endOf(draft.job.schedule) !== undefined;
  const removed = removedIn(schedule, processedBefore(draft), draft.job.now);
  if (!isNoted) for (const note of removed) draft.noteApart(note);
  return removed.at(-1)?.to ?? null;
}

/**
 * Ends a rule as of now: the instants that calendars removed up to now are in the ledger, and no later ones, which are the next rule's. Call
 * it before the state changes. Returns the same as `noteRemoved`.
 */
export function closeRule(draft: JobDraft, schedule: CompiledSchedule): Instant | null {
  draft.cutAhead((from) => removedIn(schedule, from - 1, draft.job.now)[0] ?? null);
  return noteRemoved(draft, schedule);
}

/** Adds the instants that calendars removed since the last occurrence of a schedule that has none left, up to the end of the schedule. */
export function noteRest(draft: JobDraft, schedule: CompiledSchedule): void {
  for (const note of restNotes(draft.job.schedule, schedule, processedBefore(draft))) draft.noteApart(note);
}

/** Does the same for a rule without an occurrence that begins now, with the next version of the job. */
export function noteEmptyRule(draft: JobDraft, spec: ScheduleSpec, schedule: CompiledSchedule): void {
  const after = Math.max(draft.due.firedThrough ?? -1, draft.job.now);
  const version = draft.job.due.version + 1;
  for (const note of restNotes(spec, schedule, after)) draft.noteApart(note, version);
}
