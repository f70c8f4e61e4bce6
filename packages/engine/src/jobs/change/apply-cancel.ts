import { transitionJob } from "@carillon/core";
import type { CancelRequest } from "../../model/job-changes.js";
import type { JobDraft } from "../../settlement/job-draft.js";
import type { JobPatch } from "./job-patch.js";

/** Ends a job for good, with its runs held. Null: it had ended before. */
export function applyCancel(draft: JobDraft, request: CancelRequest): JobPatch | null {
  const cancelled = transitionJob(draft.due.state, "cancel");
  if (!cancelled.ok) return null;
  draft.end("cancelled_by_job", { keepRunning: request.running === "keep" });
  draft.set({ state: cancelled.state, nominal: null, fireAt: null, catchUpTo: null, stateReason: null });
  return { pause: null, endedAt: draft.job.now };
}
