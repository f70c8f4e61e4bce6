import type { DurationMs, Instant } from "@carillon/core";

/** Fires of one second, and some of the jobs that make them. */
export interface CrowdedSecond {
  readonly at: Instant;
  readonly fires: number;
}

/** Jobs of one rule that crowd seconds, and what would spread them. */
export interface JitterProposal {
  readonly description: string;
  /** How many jobs have this rule, estimated as the fires are. */
  readonly jobs: number;
  readonly examples: readonly { readonly id: string; readonly key: string | null }[];
  readonly jitterMs: DurationMs;
  /** Fires of this rule in its busiest second, now and with the jitter. */
  readonly peakBefore: number;
  readonly peakAfter: number;
}

/** What the schedules of a namespace will fire. Jobs that run once by themselves, retries and runs by hand are not in it. */
export interface Forecast {
  readonly from: Instant;
  /** Earlier than asked where there is more to count than one look may. */
  readonly until: Instant;
  /** Jobs that fire in that time; an estimate unless all were looked at. */
  readonly jobs: number;
  readonly sampledJobs: number;
  readonly isExact: boolean;
  readonly fires: number;
  /** From the first minute on, one for each. */
  readonly perMinute: readonly number[];
  readonly busiest: CrowdedSecond | null;
  /** The busiest first. */
  readonly crowded: readonly CrowdedSecond[];
  readonly proposals: readonly JitterProposal[];
}

export interface Forecasts {
  forecast(namespace: string, hours: number): Promise<Forecast>;
  /** How many jobs fire in the second of an instant; counted up to 1,000. */
  firesAt(namespace: string, instant: Instant): Promise<number>;
}
