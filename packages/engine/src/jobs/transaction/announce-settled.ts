import { type OnEngineEvent, classNames } from "../../events.js";
import { announceEnded } from "../../runs/run-events.js";
import type { Wakeups } from "../../wakeups/wakeups.js";
import type { Settled } from "./settler.js";

/** Tells what a settlement made of occurrences, as the scheduler does of those that it fires. After the commit. */
export function announceSettled(
  { fires, entries, ended }: Pick<Settled, "fires" | "entries" | "ended">,
  onEvent: OnEngineEvent,
): void {
  announceEnded(ended, "cancelled", onEvent);
  for (const { run, of, nominal, trigger, class: rank, misfireThresholdMs } of fires) {
    const lateMs = Math.max(0, run.createdAt - run.runAt);
    const what = { ...of, runId: run.id, jobId: run.jobId, nominal, lateMs, class: classNames[rank] ?? "normal" };
    onEvent({ type: run.state === "blocked" ? "run.blocked" : "run.fired", ...what, trigger });
    if (lateMs > misfireThresholdMs) onEvent({ type: "run.late", ...what });
  }
  for (const { jobId, reason, count } of entries) {
    if (reason === "missed") onEvent({ type: "occurrence.missed", jobId, count });
    else onEvent({ type: "occurrence.skipped", jobId, reason, count });
  }
}

/** Wakes the components that a committed settlement concerns: jobs of these shards changed, runs were queued or are to stop. */
export function wakeForSettled(wakeups: Wakeups, shards: readonly number[], settled: Settled | null): void {
  wakeups.jobsChanged(shards);
  if (settled === null) return;
  wakeups.runsQueued(settled.queued);
  if (settled.stopped.length > 0) wakeups.broadcast("stops");
}
