import type { PlannedChange } from "./change.js";
import { type Rule, ruleFrom } from "./rule.js";
import { type ChaosWindow, windowFrom } from "./surroundings.js";

export type OverlapPolicy = "allow" | "skip" | "queue_one" | "queue_all" | "cancel_running";

/** What becomes of occurrences that are later than the threshold. */
export interface Misfire {
  readonly policy: "run_once" | "skip" | "run_all";
  readonly thresholdMs: number;
}

export interface ChaosJob {
  readonly key: string;
  /** The one that it begins with. */
  readonly rule: Rule;
  /** How long its handler takes. */
  readonly workMs: number;
  /** Its first try is answered with a 503. */
  readonly failsFirst: boolean;
  /** With any other than allow, two of its runs must never work at the same time. */
  readonly overlap: OverlapPolicy;
  readonly misfire: Misfire;
  /** The maintenance window that it is subject to. */
  readonly window: ChaosWindow | null;
  /** It leaves out the days of the calendar that is changed under it. */
  readonly followsCalendar: boolean;
}

/** The job of a plan that begins at this instant. */
export function jobFrom(begin: number, job: ChaosJob): ChaosJob {
  const window = job.window === null ? null : windowFrom(begin, job.window);
  return { ...job, rule: ruleFrom(begin, job.rule), window };
}

/** Times count from the begin of the load. */
export interface PlannedJob {
  /** When it is asked for. */
  readonly createAtMs: number;
  readonly job: ChaosJob;
  /** One after the other. */
  readonly changes: readonly PlannedChange[];
  /** When it is asked to run out of turn. */
  readonly runNowAtMs: readonly number[];
}
