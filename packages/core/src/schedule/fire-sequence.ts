import type { DurationMs, Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { FireNote } from "./compiled.js";

/**
 * A strictly increasing sequence of instants that can be walked from anywhere, both ways, with the same answers.
 * Whole milliseconds in and out; NEVER where there is nothing more. Layers (calendars, bounds) wrap one another.
 */
export interface FireSequence {
  nextNominal(after: Instant): Instant;
  previousNominal(before: Instant): Instant;
  /** How many instants lie strictly between two; finite ones. */
  countBetween(after: Instant, before: Instant): number;
  /** Why this instant, a member of the sequence, is not simply what the rule says. */
  notesAt(nominal: Instant): readonly FireNote[];
}

const NO_NOTES: readonly FireNote[] = [];

/** Fires only when something other than time says so. */
export const neverFires: FireSequence = {
  nextNominal: () => NEVER,
  previousNominal: () => NEVER,
  countBetween: () => 0,
  notesAt: () => NO_NOTES,
};

export function fireOnceAt(at: Instant): FireSequence {
  return {
    nextNominal: (after) => (after < at ? at : NEVER),
    previousNominal: (before) => (before > at ? at : NEVER),
    countBetween: (after, before) => (after < at && at < before ? 1 : 0),
    notesAt: () => NO_NOTES,
  };
}

/**
 * anchor, anchor + every, anchor + 2 × every …: elapsed time, so that it never drifts and no clock change touches it.
 * The anchor itself belongs to the sequence: a schedule that starts at an instant fires at it, one that was created at
 * an instant is asked for what comes after it.
 */
export function fireEvery(everyMs: DurationMs, anchor: Instant): FireSequence {
  /** How many of the sequence lie before an instant. */
  const before = (instant: Instant) => Math.max(0, Math.ceil((instant - anchor) / everyMs));
  return {
    nextNominal: (after) => (after < anchor ? anchor : anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs),
    previousNominal: (instant) => (instant <= anchor ? NEVER : anchor + (before(instant) - 1) * everyMs),
    countBetween: (after, until) => Math.max(0, before(until) - before(after + 1)),
    notesAt: () => NO_NOTES,
  };
}
