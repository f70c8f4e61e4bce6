import type { FiringPolicy, Instant, JobPause, JobState, RunPolicy, ScheduleSpec } from "@carillon/core";
import type { Neighbour } from "@carillon/store";
import type { RunView } from "../runs/run-view.js";

/** A job as readers see it. A one-off job that is stored as its run alone is shown in the same form. */
export interface JobView {
  readonly id: string;
  readonly key: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  /** Only what differs from the defaults. */
  readonly firing: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly state: JobState;
  /** Null unless the job is paused. */
  readonly pause: JobPause | null;
  readonly version: number;
  /** The next nominal instant with its jitter added; null when nothing is left to fire. */
  readonly nextRunAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** What it waits for, and who waits for it; only where one job is asked for. */
  readonly neighbours: readonly Neighbour[];
  /** The run of a one-off job; the latest live or finished run of a recurring one; null before the first. */
  readonly lastRun: RunView | null;
}
