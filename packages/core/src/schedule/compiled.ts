import type { Instant } from "../time/instant.js";

/** Why a fire is not simply what the rule says. The preview shows these. */
export type FireNote =
  | { readonly kind: "gap"; readonly wallTime: string }
  | { readonly kind: "overlap"; readonly pass: "first" | "second" }
  | { readonly kind: "rolled"; readonly from: Instant; readonly calendar: string }
  /** Another fire of the rule that a roll moved onto this one: one occurrence stands for both. */
  | { readonly kind: "merged"; readonly from: Instant; readonly calendar: string }
  /** `reason` is what the calendar says of the day, such as a holiday's name. */
  | { readonly kind: "excluded"; readonly calendar: string; readonly reason?: string }
  | { readonly kind: "jittered"; readonly byMs: number };

/** One nominal instant of a schedule. The nominal instant is the occurrence's identity; `fireAt` adds the jitter. */
export interface Fire {
  readonly nominal: Instant;
  readonly fireAt: Instant;
  readonly notes: readonly FireNote[];
}

/** A fire that the rule names and that never happens, with the reason. */
export interface RemovedFire {
  readonly at: Instant;
  readonly notes: readonly FireNote[];
}

/** All the fires that calendars remove from a stretch of time, as one. */
export interface RemovedRange {
  readonly first: RemovedFire;
  readonly last: RemovedFire;
  readonly count: number;
}

/** A fire of the rule that has no occurrence of its own because a roll moved it onto another; see `merged`. */
export interface MergedFire {
  /** When the rule names it. */
  readonly at: Instant;
  /** The calendar that closed its day. */
  readonly calendar: string;
}

/**
 * A schedule ready to be asked. Pure: equal questions get equal answers on every node and after every failover.
 * Answers are strictly increasing in `nominal`; `next(from)` is strictly later than `from`, to the millisecond.
 * Hot callers (the scheduler) use `nextNominal`, which allocates nothing and computes no notes; -1 stands for "never".
 */
export interface CompiledSchedule {
  nextNominal(after: Instant): Instant;
  /** The latest nominal instant strictly before `before`, or -1. */
  previousNominal(before: Instant): Instant;
  /**
   * How many nominal instants lie strictly after `after` and strictly before `before`, within the years 0001 to 9999.
   * Exact, and by arithmetic on days: a year of seconds costs microseconds. Only rolls walk, and only the fires
   * that move near a clock change, two million of them at most.
   */
  countBetween(after: Instant, before: Instant): number;
  /** The delay that jitter adds to this nominal instant; 0 without jitter. */
  jitterAt(nominal: Instant): number;
  next(after: Instant): Fire | null;
  previous(before: Instant): Fire | null;
  /** Fires with from < nominal <= to, at most `limit`. */
  between(from: Instant, to: Instant, limit: number): Fire[];
  /** Fires of the rule with from < at <= to that calendars remove, at most `limit`; moved ones are not among them. */
  removedBetween(from: Instant, to: Instant, limit: number): RemovedFire[];
  /** The same as one range, counted by days; null when nothing is removed. Ends 50 years after the rule's first fire. */
  removedRange(from: Instant, to: Instant): RemovedRange | null;
  /** The fires that a roll merged into this nominal instant, without the one that it stands for; at most 100. */
  mergedAt(nominal: Instant): MergedFire[];
  /** The same for all with from <= nominal <= to; of those on days to which fires move, the first `most` are asked. */
  mergedBetween(from: Instant, to: Instant, most: number): MergedFire[];
}
