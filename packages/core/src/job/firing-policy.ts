import type { DurationMs } from "../time/instant.js";

export const misfirePolicies = ["run_once", "skip", "run_all"] as const;
export const overlapPolicies = ["skip", "allow", "queue_one", "queue_all", "cancel_running"] as const;

/** What becomes of occurrences that are later than the threshold. */
export type MisfirePolicy = (typeof misfirePolicies)[number];
/** What becomes of an occurrence while a run of the job is live. */
export type OverlapPolicy = (typeof overlapPolicies)[number];

export interface FiringPolicy {
  readonly misfire: MisfirePolicy;
  /** Up to this lateness every occurrence is fired, in order. */
  readonly misfireThresholdMs: DurationMs;
  /** What is older is never fired. */
  readonly catchupWindowMs: DurationMs;
  /** run_all: at most so many of the latest missed occurrences are fired. */
  readonly catchupMost: number;
  /** run_all, and a resume that catches up: fires per second and job. */
  readonly catchupPerSecond: number;
  readonly overlap: OverlapPolicy;
}

export const defaultFiringPolicy: FiringPolicy = Object.freeze({
  misfire: "run_once",
  misfireThresholdMs: 60_000,
  catchupWindowMs: 86_400_000,
  catchupMost: 1_000,
  catchupPerSecond: 10,
  overlap: "skip",
});

const defaults: ReadonlyMap<string, unknown> = new Map(Object.entries(defaultFiringPolicy));

/** What differs from the defaults. */
export function ownFiring(said: Partial<FiringPolicy>): Partial<FiringPolicy> {
  return Object.fromEntries(Object.entries(said).filter(([name, value]) => value !== defaults.get(name)));
}

/** What a job says, completed by the defaults. Jobs that say nothing share one object. */
export function firingPolicy(said: Partial<FiringPolicy>): FiringPolicy {
  for (const name in said) if (Object.hasOwn(said, name)) return { ...defaultFiringPolicy, ...said };
  return defaultFiringPolicy;
}
