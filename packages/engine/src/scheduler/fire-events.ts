import { type ClassName, classNames, type EngineEvent, type OnEngineEvent } from "../events.js";
import type { DueJob, LedgerRange, FireRow, PassRow, Fired } from "@carillon/store";

/** Tells what became of the rows of a fire. */
export function announceFired(row: FireRow, fired: Fired, onEvent: OnEngineEvent): void {
  const { job } = row;
  for (const range of row.notes) onEvent(skipped(job, range));
  if (fired.run === null) {
    const { outcome: reason } = fired;
    onEvent(skipped(job, { reason: reason === "duplicate" ? reason : "overlap", count: 1 }));
    return;
  }
  const lateMs = Math.max(0, fired.run.createdAt - job.fireAt);
  const { namespaceId, task, queue } = job.definition;
  // Written out: to copy members from one object to another costs more than all else that the node does for a fire.
  const event = {
    type: fired.outcome === "blocked" ? "run.blocked" : "run.fired",
    namespaceId,
    runId: fired.run.id,
    jobId: job.jobId,
    task,
    queue,
    nominal: job.nominal,
    lateMs,
    class: classOf(job),
    trigger: "schedule",
  } as const;
  onEvent(event);
  if (lateMs <= job.definition.firing.misfireThresholdMs) return;
  const { trigger: _, ...late } = event;
  onEvent({ ...late, type: "run.late" });
}

/** Tells what was passed over. */
export function announcePassed(row: PassRow, onEvent: OnEngineEvent): void {
  for (const range of row.notes) onEvent(skipped(row.job, range));
  onEvent(skipped(row.job, row.range));
}

function skipped({ jobId }: DueJob, { reason, count }: Pick<LedgerRange, "reason" | "count">): EngineEvent {
  return reason === "missed"
    ? { type: "occurrence.missed", jobId, count }
    : { type: "occurrence.skipped", jobId, reason, count };
}

function classOf(job: DueJob): ClassName {
  return classNames[job.class] ?? "normal";
}
