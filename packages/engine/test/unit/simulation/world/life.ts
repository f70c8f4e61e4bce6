import type { Instant, MaintenanceWindow, ScheduleSpec } from "@carillon/core";
import type { EndedRun, MemoryJob, MemoryRange, MemoryRun } from "../../../../src/scheduler/memory/memory-tables.js";
import type { DrawnJob } from "../draw/jobs.js";

/** A rule and the instants that it named for its job: after < instant <= through. */
export interface RuleInForce {
  readonly schedule: ScheduleSpec;
  readonly after: Instant;
  readonly through: Instant;
}

/** The history of a job, as the user who created and changed it knows it. */
export interface JobLife {
  readonly drawn: DrawnJob;
  readonly rules: RuleInForce[];
  /** It was paused or edited, or could not be fired for a while. */
  isChanged: boolean;
}

/** Windows from a time on. */
export interface WindowsInForce {
  readonly from: Instant;
  readonly windows: readonly MaintenanceWindow[];
}

/**
 * A period that passed twice because the clock was set back, or in which a node used a wrong clock. Lateness and windows in it were judged by
 * another clock than the judge's.
 */
export interface UnclearTime {
  readonly from: Instant;
  readonly to: Instant;
}

/** What a year left behind, for the judge. */
export interface YearRecord {
  readonly seed: number;
  readonly lives: ReadonlyMap<string, JobLife>;
  readonly windows: readonly WindowsInForce[];
  readonly unclear: readonly UnclearTime[];
  readonly epochs: readonly { readonly shard: number; readonly epoch: number }[];
  readonly jobs: ReadonlyMap<string, MemoryJob>;
  readonly live: readonly MemoryRun[];
  readonly ended: readonly EndedRun[];
  readonly ledger: readonly MemoryRange[];
  /** Everything up to here has come and had the time to be settled. */
  readonly judgedTo: Instant;
  /** When the simulation ended. */
  readonly endedAt: Instant;
  /** How often each kind of incident and event was seen: a year in which nothing bit shows nothing. */
  readonly seen: ReadonlyMap<string, number>;
}
