import type { FiringPolicy, Instant, JobState, RunPolicy, ScheduleSpec } from "@carillon/core";
import type { PauseColumn } from "../catalog/stored-pause.js";

/** A stored job with its due state, as readers get it. */
export interface JobRow {
  readonly id: string;
  readonly key: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy | null;
  readonly labels: Record<string, string>;
  readonly owner: string | null;
  readonly version: number;
  readonly firing: Partial<FiringPolicy> | null;
  readonly pause: PauseColumn | null;
  readonly created_at: Instant;
  readonly updated_at: Instant;
  readonly defined_at: Instant | null;
  readonly state: JobState;
  readonly next_fire_at: Instant | null;
  readonly fired_through: Instant | null;
  /** Runs that may be live, the newest last. */
  readonly run_ids: readonly string[];
  /** Others wait for its runs; only where one job is asked for. */
  readonly feeds?: boolean | null;
}
