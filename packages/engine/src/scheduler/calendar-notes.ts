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

function removedBy({ spec, schedule, settledTo, through, next }: ScheduleStep): LedgerRange[] {
  const bound = "endsAt" in spec ? spec.endsAt : undefined;
  const removed = schedule.removedRange(settledTo, next === null ? (bound ?? through) : through);
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
