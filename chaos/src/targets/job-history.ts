import type { DependentJob, DependentChange } from "../plan/dependent-job.js";
import type { Change, ChaosJob } from "../plan/job.js";

/** A change as it was asked for; it took effect at some instant between the two. */
export interface DoneChange<Done = Change> {
  readonly change: Done;
  readonly sentAt: number;
  /** Null when it was never answered: it may have taken effect at any time after it was sent, or never. */
  readonly settledAt: number | null;
}

/** What became of a call that asked for a run out of edit; unknown: it was never answered. */
export type RunNowOutcome = "made" | "refused" | "unknown";

/** All that a job's maker knows of it; the instants are those of the caller. */
export interface JobHistory {
  readonly job: ChaosJob;
  readonly sentAt: number;
  /** Null when the call ended unknown: the job may exist or not, and nothing more was asked of it. */
  readonly acknowledgedAt: number | null;
  /** In order; only the last can be unsettled. */
  readonly changes: readonly DoneChange[];
  readonly runNows: readonly RunNowOutcome[];
}

/** What the maker of a job that upstream others knows of it; the instants are those of the caller. */
export interface DependentHistory {
  readonly dependent: DependentJob;
  readonly sentAt: number;
  /** Null when the call ended unknown: the job may exist or not. */
  readonly acknowledgedAt: number | null;
  /** In order; only the last can be unsettled. */
  readonly changes: readonly DoneChange<DependentChange>[];
}
