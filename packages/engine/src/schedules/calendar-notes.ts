import type { CompiledSchedule, FireNote, Instant, ScheduleSpec } from "@carillon/core";
import type { LedgerRange } from "@carillon/store";

/** Occurrences of one step that are asked for what was merged into them; only those of days to which fires move are. */
const mostAsked = 2_000;
/** What was merged in one step has an entry each up to this number, and one for all beyond it. */
const mostApart = 10;

/** A step of a schedule from one occurrence to the next. */
export interface ScheduleStep {
  readonly spec: ScheduleSpec;
  readonly schedule: CompiledSchedule;
  /** Everything up to here was noted before. */
  readonly settledTo: Instant;
  /** The first and the last occurrence that the step settles. */
  readonly nominal: Instant;
  readonly through: Instant;
  /** Nothing is left to fire after it. */
  readonly isLast: boolean;
}

/** What calendars took from a schedule, or merged, up to what a step settles: for the ledger. */
export function calendarNotes(step: ScheduleStep): readonly LedgerRange[] {
  if (!usesCalendars(step.spec)) return none;
  return [...removedBy(step), ...mergedInto(step)];
}

export function usesCalendars(spec: ScheduleSpec): boolean {
  return "calendars" in spec && spec.calendars !== undefined;
}

const none: readonly LedgerRange[] = [];

/**
 * A job may not have been computed with the newest version of its calendars yet: its occurrence is settled by the step, whatever
 * that version says of it, and is not removed as well.
 */
function removedBy(step: ScheduleStep): LedgerRange[] {
  const { spec, schedule, settledTo, nominal, through, isLast } = step;
  const until = isLast ? (endOf(spec) ?? through) : through;
  const isBehind = schedule.nextNominal(nominal - 1) !== nominal;
  if (!isBehind) return removedIn(schedule, settledTo, until);
  return [...removedIn(schedule, settledTo, nominal - 1), ...removedIn(schedule, nominal, until)];
}

/** Where a schedule ends; undefined: nowhere. */
export function endOf(spec: ScheduleSpec): Instant | undefined {
  return "endsAt" in spec ? spec.endsAt : undefined;
}

/** What calendars took with after < instant <= through, as one range if anything. */
export function removedIn(schedule: CompiledSchedule, after: Instant, through: Instant): LedgerRange[] {
  const removed = schedule.removedRange(after, through);
  if (removed === null) return [];
  const { first, last, count } = removed;
  const [one, other] = [calendarOf(first.notes), calendarOf(last.notes)];
  return [{ reason: "calendar", from: first.at, to: last.at, count, detail: one === other ? one : null }];
}

function mergedInto({ schedule, nominal, through }: ScheduleStep): LedgerRange[] {
  const merged = schedule.mergedBetween(nominal, through, mostAsked);
  const ranges = merged.map(({ at, calendar }) => rangeOf("merged", at, calendar));
  return ranges.length <= mostApart ? ranges : [ranges.reduce(joined)];
}

function rangeOf(reason: LedgerRange["reason"], at: Instant, detail: string): LedgerRange {
  return { reason, from: at, to: at, count: 1, detail };
}

/** A calendar that did not close them all is not named. */
function joined(one: LedgerRange, other: LedgerRange): LedgerRange {
  const [from, to] = [Math.min(one.from, other.from), Math.max(one.to, other.to)];
  return { ...one, from, to, count: one.count + other.count, detail: one.detail === other.detail ? one.detail : null };
}

function calendarOf(notes: readonly FireNote[]): string | null {
  for (const note of notes) if (note.kind === "excluded") return note.calendar;
  return null;
}
