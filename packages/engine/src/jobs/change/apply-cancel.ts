import { type CompiledSchedule, transitionJob } from "@carillon/core";
import type { CancelRequest } from "../job-changes.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { JobPatch } from "./job-patch.js";
import { noteRemoved, noteThrough, supersedePending } from "../transaction/settle-due.js";

/** Ends a job for good, with its runs held. Null: it had ended before. */
export function applyCancel(
  draft: JobDraft,
  schedule: CompiledSchedule | null,
  request: CancelRequest,
): JobPatch | null {
  const cancelled = transitionJob(draft.due.state, "cancel");
  if (!cancelled.ok) return null;
  noteOutstanding(draft, schedule);
  draft.end("cancelled_by_job", { keepRunning: request.running === "keep" });
  draft.set({ state: cancelled.state, nominal: null, fireAt: null, catchUpTo: null, stateReason: null });
  return { pause: null, endedAt: draft.job.now };
}

/** Nobody will come back to what a pause swallowed, or to what has come and still waits. */
function noteOutstanding(draft: JobDraft, schedule: CompiledSchedule | null): void {
  const { pause, now } = draft.job;
  supersedePending(draft, schedule);
  if (schedule === null) return;
  if (draft.due.state === "paused" && pause !== null)
    noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: now });
  if (draft.due.state !== "completed") noteRemoved(draft, schedule);
}
