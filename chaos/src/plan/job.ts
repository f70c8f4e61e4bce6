import type { PlannedChange } from "./change.js";
import type { Rule } from "./rule.js";

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
