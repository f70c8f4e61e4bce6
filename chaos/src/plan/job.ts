import { type ChaosWindow, windowFrom } from "./constraints.js";

/**
 * When a job is to run, as the request states it. Instants are milliseconds; in a plan they count from the start of the
 * load.
 */
export type Rule =
  | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string; readonly endsAt: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: "at"; readonly at: number }
  /** Never sent: stands for a calendar that excludes all days of the load. */
  | { readonly kind: "never" };

/** The rule with the instants of a plan that begins at this instant, a whole second. */
export function ruleFrom(loadStart: number, rule: Rule): Rule {
  if (rule.kind === "never") return rule;
  if (rule.kind === "at") return { ...rule, at: loadStart + rule.at };
  const endsAt = loadStart + rule.endsAt;
  return rule.kind === "cron" ? { ...rule, endsAt } : { ...rule, startsAt: loadStart + rule.startsAt, endsAt };
}

/** Which occurrences inside a pause run at its end. */
export type Missed = "none" | "latest" | "all";

/**
 * A change of a job. A resume also stands for a pause that ends at its time. Instants are milliseconds; in a plan they
 * count from the start of the load.
 */
export type Change =
  | { readonly kind: "edit"; readonly rule: Rule }
  | { readonly kind: "pause"; readonly until: number | null; readonly missed: Missed }
  | { readonly kind: "resume"; readonly missed: Missed }
  | { readonly kind: "cancel"; readonly running: "signal" | "keep" };

export interface PlannedChange {
  readonly atMs: number;
  readonly change: Change;
}

/** The change with the instants of a plan that begins at this instant. */
export function changeFrom(loadStart: number, change: Change): Change {
  if (change.kind === "edit") return { ...change, rule: ruleFrom(loadStart, change.rule) };
  if (change.kind === "pause" && change.until !== null) return { ...change, until: loadStart + change.until };
  return change;
}

export type OverlapPolicy = "allow" | "skip" | "queue_one" | "queue_all" | "cancel_running";

/** The policy for occurrences that are later than the threshold. */
export interface Misfire {
  readonly policy: "run_once" | "skip" | "run_all";
  readonly thresholdMs: number;
}

export interface ChaosJob {
  readonly key: string;
  /** The rule at creation. */
  readonly rule: Rule;
  /** How long its handler takes. */
  readonly workMs: number;
  /** The journal answers its first attempt with a 503. */
  readonly failsFirst: boolean;
  /** Unless this is `allow`, two of its runs must never work at the same time. */
  readonly overlap: OverlapPolicy;
  readonly misfire: Misfire;
  /** The maintenance window that applies to the job. */
  readonly window: ChaosWindow | null;
  /** Whether the job excludes the calendar that flips during the load. */
  readonly excludesCalendar: boolean;
}

/** The job with the instants of a plan that begins at this instant. */
export function jobFrom(loadStart: number, job: ChaosJob): ChaosJob {
  const window = job.window === null ? null : windowFrom(loadStart, job.window);
  return { ...job, rule: ruleFrom(loadStart, job.rule), window };
}

/** Times count from the start of the load. */
export interface PlannedJob {
  /** When the job is created. */
  readonly createAtMs: number;
  readonly job: ChaosJob;
  /** In the order in which they are made. */
  readonly changes: readonly PlannedChange[];
  /** When a run-now is requested. */
  readonly runNowAtMs: readonly number[];
}
