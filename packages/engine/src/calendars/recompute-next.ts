import type { CompiledSchedule } from "@carillon/core";
import { supersedePending } from "../jobs/transaction/settle-due.js";
import { nextAfter } from "../schedules/plan-due.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";

/**
 * Gives a job the next time that its calendars name now. What was due under the old ones is settled before. What has come
 * and still waits (held, paced, within its jitter) stays if it is an instant of the new rule too.
 */
export function recomputeNext(draft: JobDraft, old: CompiledSchedule | null, rule: CompiledSchedule): void {
  const { state, nominal, firedThrough, firedCount, maxRuns } = draft.due;
  const { now } = draft.job;
  if (state === "paused") return;
  if (nominal !== null && nominal <= now) {
    if (rule.nextNominal(nominal - 1) === nominal) return;
    supersedePending(draft, old);
  }
  const isSpent = maxRuns !== null && firedCount >= maxRuns;
  const next = isSpent ? null : nextAfter(rule, Math.max(firedThrough ?? -1, now));
  draft.set({
    state: next === null ? "completed" : "active",
    nominal: next?.nominal ?? null,
    fireAt: next?.fireAt ?? null,
    catchUpTo: null,
    stateReason: null,
  });
}
