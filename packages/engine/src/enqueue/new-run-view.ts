import { retryOf, shownLabels } from "@carillon/core";
import type { RunView } from "../runs/run-view.js";
import type { NewRun, StoredRun } from "@carillon/store";

/** A run as it was stored a moment ago: what a read would have shown then. */
export function newRunView(run: NewRun, stored: StoredRun): RunView {
  return {
    id: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    status: stored.state === "far_future" ? "scheduled" : stored.state,
    statusReason: null,
    trigger: { kind: "once", id: null, scheduledFor: run.nominal },
    runAt: run.runAt,
    deadlineAt: run.deadline ?? null,
    createdAt: stored.createdAt,
    startedAt: null,
    finishedAt: null,
    attempt: 0,
    maxAttempts: retryOf(run.policy).maxAttempts,
    losses: 0,
    workerId: null,
    progress: null,
    payload: run.payload ?? null,
    policy: run.policy,
    output: null,
    error: null,
    attempts: [],
    labels: shownLabels(run.labels),
    owner: run.owner,
  };
}
