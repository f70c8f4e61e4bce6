import { type ChaosWindow, windowFrom } from "./constraints.js";

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
  readonly excludesCalendar: boolean;
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

/** When a job is to run, as the request says it. Instants are milliseconds; in a plan they count from the begin of the load. */
export type Rule =
  | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string; readonly endsAt: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: "at"; readonly at: number }
  /** Not in a request: a calendar has closed all of its days. */
  | { readonly kind: "never" };

/** The rule of a plan that begins at this instant, a whole second. */
export function ruleFrom(begin: number, rule: Rule): Rule {
  if (rule.kind === "never") return rule;
  if (rule.kind === "at") return { ...rule, at: begin + rule.at };
  const endsAt = begin + rule.endsAt;
  return rule.kind === "cron" ? { ...rule, endsAt } : { ...rule, startsAt: begin + rule.startsAt, endsAt };
}

/** What becomes of the occurrences inside a pause. */
export type Missed = "none" | "latest" | "all";

/**
 * A change of a job that its maker asks for. resume also stands for a pause that ends by itself. Instants are milliseconds; in a
 * plan they count from the begin of the load.
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

/** The change of a plan that begins at this instant. */
export function changeFrom(begin: number, change: Change): Change {
  if (change.kind === "edit") return { ...change, rule: ruleFrom(begin, change.rule) };
  if (change.kind === "pause" && change.until !== null) return { ...change, until: begin + change.until };
  return change;
}
