import { CarillonError } from "../errors/carillon-error.js";
import type { AtSchedule } from "../schedule/spec.js";
import type { DurationMs, Instant } from "../time/instant.js";

export const misfirePolicies = ["run_once", "skip", "run_all"] as const;
export const overlapPolicies = ["skip", "allow", "queue_one", "queue_all", "cancel_running"] as const;

/** How occurrences that are later than the threshold are handled. */
export type MisfirePolicy = (typeof misfirePolicies)[number];
/** How an occurrence is handled while a run of the job is live. */
export type OverlapPolicy = (typeof overlapPolicies)[number];

export interface FiringPolicy {
  readonly misfire: MisfirePolicy;
  /** Up to this lateness every occurrence is fired, in order. */
  readonly misfireThresholdMs: DurationMs;
  /** Occurrences that are later than this are never fired. */
  readonly catchupWindowMs: DurationMs;
  /** run_all: at most this many of the latest missed occurrences are fired. */
  readonly maxCatchupRuns: number;
  /** run_all, and a resume that catches up: maximum fires per second and job. */
  readonly catchupPerSecond: number;
  readonly overlap: OverlapPolicy;
}

export const defaultFiringPolicy: FiringPolicy = Object.freeze({
  misfire: "run_once",
  misfireThresholdMs: 60_000,
  catchupWindowMs: 86_400_000,
  maxCatchupRuns: 1_000,
  catchupPerSecond: 10,
  overlap: "skip",
});

const defaults: ReadonlyMap<string, unknown> = new Map(Object.entries(defaultFiringPolicy));

/** The members that differ from the defaults. */
export function ownFiring(given: Partial<FiringPolicy>): Partial<FiringPolicy> {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== defaults.get(name)));
}

/** The policy of a job, completed by the defaults. Jobs without a policy share one object. */
export function firingPolicy(given: Partial<FiringPolicy>): FiringPolicy {
  for (const name in given) if (Object.hasOwn(given, name)) return { ...defaultFiringPolicy, ...given };
  return defaultFiringPolicy;
}

/** Refuses an instant before the catch-up window. A caller that gives misfire run_once wants the run however old the instant is. */
export function refuseLongPast(
  schedule: AtSchedule,
  firing: Partial<FiringPolicy>,
  context: { readonly now: Instant; readonly catchupWindowMs: DurationMs },
): void {
  const { catchupWindowMs = context.catchupWindowMs, misfire } = firing;
  if (misfire === "run_once" || context.now - schedule.at <= catchupWindowMs) return;
  const at = new Date(schedule.at).toISOString();
  throw new CarillonError(
    "schedule_in_past",
    `${at} is longer ago than the catch-up window of ${catchupWindowMs / 3_600_000} h: give a later instant, none to run now, or misfire "run_once" to run it nevertheless.`,
  );
}

/** Why an occurrence has no scheduled run: every occurrence has either a run or a ledger entry with one of these reasons. */
export const ledgerReasons = [
  "missed",
  "overlap",
  "window",
  "calendar",
  "merged",
  "paused",
  "superseded",
  "already_ran",
  "duplicate",
  "condition",
] as const;

export type LedgerReason = (typeof ledgerReasons)[number];

export const missedChoices = ["none", "latest", "all"] as const;

/** Which occurrences of a pause are fired when it ends. */
export type MissedChoice = (typeof missedChoices)[number];

/** A pause of a job. */
export interface JobPause {
  readonly reason: string | null;
  /** The caller that paused the job; null if it was not identified. */
  readonly actor: string | null;
  readonly at: Instant;
  /** When the pause expires; null: it ends only by a resume. */
  readonly until: Instant | null;
  /** The default for the end of the pause; a resume can choose otherwise. */
  readonly missed: MissedChoice;
}
