import type { CompiledSchedule, FireNote, Instant, ScheduleSpec } from "@carillon/core";
import type { LedgerRange } from "./fire-store.js";
import type { NextTime } from "./plan-due.js";

/** Occurrences of one step that are asked for what was merged into them. */
const mostAsked = 100;

/** A step of a schedule from one occurrence to the next. */
export interface ScheduleStep {
  readonly spec: ScheduleSpec;
  readonly schedule: CompiledSchedule;
  /** Everything up to here was noted before. */
  readonly settledTo: Instant;
  /** The first and the last occurrence that the step settles. */
  readonly nominal: Instant;
  readonly through: Instant;
  readonly next: NextTime | null;
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
  const { spec, schedule, settledTo, nominal, through, next } = step;
  const bound = "endsAt" in spec ? spec.endsAt : undefined;
  const until = next === null ? (bound ?? through) : through;
  const isBehind = schedule.nextNominal(nominal - 1) !== nominal;
  if (!isBehind) return removedIn(schedule, settledTo, until);
  return [...removedIn(schedule, settledTo, nominal - 1), ...removedIn(schedule, nominal, until)];
}

function removedIn(schedule: CompiledSchedule, after: Instant, through: Instant): LedgerRange[] {
  const removed = schedule.removedRange(after, through);
  if (removed === null) return [];
  const { first, last, count } = removed;
  const [one, other] = [calendarOf(first.notes), calendarOf(last.notes)];
  return [{ reason: "calendar", from: first.at, to: last.at, count, detail: one === other ? one : null }];
}

function mergedInto({ schedule, nominal, through }: ScheduleStep): LedgerRange[] {
  const ranges: LedgerRange[] = [];
  let at = nominal;
  for (let asked = 0; at !== -1 && at <= through && asked < mostAsked; asked += 1) {
    for (const { at: from, calendar } of schedule.mergedAt(at)) {
      ranges.push({ reason: "merged", from, to: from, count: 1, detail: calendar });
    }
    at = schedule.nextNominal(at);
  }
  return ranges;
}

function calendarOf(notes: readonly FireNote[]): string | null {
  for (const note of notes) if (note.kind === "excluded") return note.calendar;
  return null;
}
