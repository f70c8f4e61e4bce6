import type { Instant } from "../time/instant.js";

/** Why a fire differs from the rule. The preview shows these notes. */
export type FireNote =
  | { readonly kind: "gap"; readonly wallTime: string }
  | { readonly kind: "overlap"; readonly pass: "first" | "second" }
  | { readonly kind: "rolled"; readonly from: Instant; readonly calendar: string }
  /** Another fire of the rule that a roll moved onto this one: one occurrence represents both. */
  | { readonly kind: "merged"; readonly from: Instant; readonly calendar: string }
  /** `reason` is the reason of the calendar, such as the name of a holiday. */
  | { readonly kind: "excluded"; readonly calendar: string; readonly reason?: string }
  | { readonly kind: "jittered"; readonly byMs: number };

/** One nominal instant of a schedule. The nominal instant is the occurrence's identity; `fireAt` adds the jitter. */
export interface Fire {
  readonly nominal: Instant;
  readonly fireAt: Instant;
  readonly notes: readonly FireNote[];
}

/** A fire of the rule that calendars remove, with the reason. */
export interface RemovedFire {
  readonly at: Instant;
  readonly notes: readonly FireNote[];
}

/** All fires that calendars remove in a period, as one range. */
export interface RemovedRange {
  readonly first: RemovedFire;
  readonly last: RemovedFire;
  readonly count: number;
}

/** A fire of the rule that has no occurrence of its own because a roll moved it onto another; see `merged`. */
export interface MergedFire {
  /** The instant that the rule names. */
  readonly at: Instant;
  /** The calendar that closed its day. */
  readonly calendar: string;
}

/**
 * A compiled schedule. Pure: every node computes the same fires, also after a failover. Fires are strictly increasing in
 * `nominal`; `next(from)` is strictly later than `from`, to the millisecond. The scheduler calls `nextNominal`, which
 * allocates nothing and computes no notes; -1 means "never".
 */
export interface CompiledSchedule {
  nextNominal(after: Instant): Instant;
  /** The latest nominal instant strictly before `before`, or -1. */
  previousNominal(before: Instant): Instant;
  /**
   * How many nominal instants lie strictly after `after` and strictly before `before`, within the years 0001 to 9999.
   * Exact, and by arithmetic on days: a year of seconds costs microseconds. Only rolls visit single fires: those that move
   * near a clock change, at most two million.
   */
  countBetween(after: Instant, before: Instant): number;
  /** The delay that jitter adds to this nominal instant; 0 without jitter. */
  jitterAt(nominal: Instant): number;
  next(after: Instant): Fire | null;
  previous(before: Instant): Fire | null;
  /** Fires with from < nominal <= to, at most `limit`. */
  between(from: Instant, to: Instant, limit: number): Fire[];
  /** Fires of the rule with from < at <= to that calendars remove, at most `limit`; without moved ones. */
  removedBetween(from: Instant, to: Instant, limit: number): RemovedFire[];
  /** The removed fires as one range, counted by days; null if there are none. Covers at most 50 years from the first fire on. */
  removedRange(from: Instant, to: Instant): RemovedRange | null;
  /** The fires that a roll merged into this nominal instant, without the one that remains; at most 100. */
  mergedAt(nominal: Instant): MergedFire[];
  /** The merged fires of all instants with from <= nominal <= to; reads at most `limit` instants on days to which fires move. */
  mergedBetween(from: Instant, to: Instant, limit: number): MergedFire[];
}
