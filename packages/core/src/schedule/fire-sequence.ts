import type { CompiledCron } from "../cron/compile.js";
import { isFixedTime } from "../cron/fields.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";
import type { FireNote } from "./compiled.js";
import type { DstPolicy } from "./spec.js";

/**
 * A strictly increasing sequence of instants that can be walked from anywhere, forwards and backwards. Instants are whole
 * milliseconds; NEVER marks the end. Layers (calendars, bounds) wrap one another.
 */
export interface FireSequence {
  nextNominal(after: Instant): Instant;
  previousNominal(before: Instant): Instant;
  /** How many instants lie strictly between two finite ones. */
  countBetween(after: Instant, before: Instant): number;
  /** Why this instant, a member of the sequence, differs from the rule. */
  notesAt(nominal: Instant): readonly FireNote[];
}

const NO_NOTES: readonly FireNote[] = [];

/** The sequence of a schedule that time does not fire. */
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
 * anchor, anchor + every, anchor + 2 × every …: elapsed time, so it never drifts and ignores clock changes. The anchor belongs
 * to the sequence: a schedule with starts_at fires at it; the first fire of one without is searched after its creation.
 */
export function fireEvery(everyMs: DurationMs, anchor: Instant): FireSequence {
  /** How many members lie before an instant. */
  const before = (instant: Instant) => Math.max(0, Math.ceil((instant - anchor) / everyMs));
  return {
    nextNominal: (after) => (after < anchor ? anchor : anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs),
    previousNominal: (instant) => (instant <= anchor ? NEVER : anchor + (before(instant) - 1) * everyMs),
    countBetween: (after, until) => Math.max(0, before(until) - before(after + 1)),
    notesAt: () => NO_NOTES,
  };
}

/** The part of a sequence with startsAt <= instant <= endsAt. */
export function withinBounds(
  fires: FireSequence,
  startsAt: Instant = -Infinity,
  endsAt: Instant = Infinity,
): FireSequence {
  if (startsAt === -Infinity && endsAt === Infinity) return fires;
  return {
    nextNominal: (after) => {
      const found = fires.nextNominal(Math.max(after, startsAt - 1));
      return found > endsAt ? NEVER : found;
    },
    previousNominal: (before) => {
      const found = fires.previousNominal(Math.min(before, endsAt + 1));
      return found < startsAt ? NEVER : found;
    },
    countBetween: (after, before) => fires.countBetween(Math.max(after, startsAt - 1), Math.min(before, endsAt + 1)),
    notesAt: (nominal) => fires.notesAt(nominal),
  };
}

export function cronFires(cron: CompiledCron): FireSequence {
  return {
    nextNominal: (after) => cron.next(after),
    previousNominal: (before) => cron.previous(before),
    countBetween: (after, before) => cron.countBetween(after, before),
    notesAt: (nominal) => {
      const note = cron.noteAt(nominal);
      return note === null ? [] : [note];
    },
  };
}

/** The clock-change policy for a fire that a roll moves to another day, where one reading must become one instant. */
export function policyForMoved(cron: CompiledCron, dst: DstPolicy = {}): DstPolicy {
  return {
    gap: dst.gap ?? (isFixedTime(cron.fields) ? "after" : "skip"),
    overlap: dst.overlap === "second" ? "second" : "first",
  };
}
