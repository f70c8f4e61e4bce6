import type { RunStatus } from "./status.js";

/** Why a run has its status, where the status alone does not say it. */
export const runStatusReasons = {
  /** The handler asked to be called later; a user moved it; its job is paused. */
  scheduled: ["snoozed", "rescheduled", "paused"],
  /** Waits for another run of its job, for room under a limit, for its predecessor in the order of its key, or for a step. */
  blocked: ["overlap", "limit", "ordering_key", "upstream"],
  /** Back from a worker that vanished, or that was drained, or that never started it. */
  queued: ["worker_lost", "drained", "not_started"],
  /** Waits for a callback, without a worker. */
  running: ["callback"],
  retrying: ["handler_error", "timeout"],
  succeeded: [],
  failed: ["handler_error", "timeout", "worker_lost", "expired"],
  cancelled: [
    "cancelled_by_user",
    "cancelled_by_job",
    "cancelled_by_overlap",
    "cancelled_by_dedupe",
    "cancelled_by_workflow",
  ],
  skipped: ["overlap", "calendar", "maintenance", "missed", "paused", "upstream_failed"],
} as const satisfies Record<RunStatus, readonly string[]>;

export type RunStatusReason = (typeof runStatusReasons)[RunStatus][number];
