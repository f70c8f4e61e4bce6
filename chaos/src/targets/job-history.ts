import type { DependentJob, DependentChange } from "../plan/dependent-job.js";
import type { Change, ChaosJob } from "../plan/job.js";

/** A change that was requested; it took effect at some instant between the two. */
export interface DoneChange<Done = Change> {
  readonly change: Done;
  readonly sentAt: number;
  /** Null if the call was never answered: the change took effect at any time after it was sent, or never. */
  readonly settledAt: number | null;
}

/** The outcome of a run-now call; unknown: the call was never answered. */
export type RunNowOutcome = "made" | "refused" | "unknown";

/** Everything that the harness requested for a job and was answered. Instants are those of the caller. */
export interface JobHistory {
  readonly job: ChaosJob;
  readonly sentAt: number;
  /** Null if the outcome of the creation is unknown: the job may exist or not, and got no further requests. */
  readonly acknowledgedAt: number | null;
  /** In order; only the last one can be unsettled. */
  readonly changes: readonly DoneChange[];
  readonly runNows: readonly RunNowOutcome[];
}

/** Everything that the harness requested for a dependent job and was answered. Instants are those of the caller. */
export interface DependentHistory {
  readonly dependent: DependentJob;
  readonly sentAt: number;
  /** Null if the outcome of the creation is unknown: the job may exist or not. */
  readonly acknowledgedAt: number | null;
  /** In order; only the last one can be unsettled. */
  readonly changes: readonly DoneChange<DependentChange>[];
}
