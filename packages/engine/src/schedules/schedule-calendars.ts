import type { CalendarRule, CalendarSet, CompiledSchedule, FireNote, Instant, ScheduleSpec } from "@carillon/core";
import type { CalendarEdition, LedgerRange } from "@carillon/store";

/** The compiled calendars of schedules, in memory. */
export interface CalendarSource {
  /** The calendars of a namespace, by name. An unchanged calendar is the same object at every call. */
  calendarsOf(namespaceId: number): CalendarSet;
  /** Reads what changed. Called before a job with an unknown calendar is refused. */
  refresh(): Promise<void>;
}

/** The same for callers that create and change jobs. */
export interface NamedCalendars extends CalendarSource {
  /** The known editions of the calendars that a schedule names. Throws calendar_unknown, with the most similar name. */
  editionsOf(namespaceId: number, schedule: ScheduleSpec): readonly CalendarEdition[];
  /** Reads what changed, if a schedule names a calendar that is not known. */
  ensure(namespaceId: number, schedules: readonly ScheduleSpec[]): Promise<void>;
}

const noCalendar: CalendarSet = new Map();

export const noCalendars: NamedCalendars = {
  calendarsOf: () => noCalendar,
  editionsOf: () => [],
  ensure: async () => undefined,
  refresh: async () => undefined,
};

/** The calendar rule of a schedule; null: it has none. */
export function calendarRuleOf(schedule: ScheduleSpec): CalendarRule | null {
  return "calendars" in schedule ? (schedule.calendars ?? null) : null;
}

/** The names of the calendars that a schedule follows, each once. */
export function calendarNames(schedule: ScheduleSpec): readonly string[] {
  const rule = calendarRuleOf(schedule);
  return rule === null ? [] : [...new Set([...(rule.exclude ?? []), ...(rule.only ?? [])])];
}

/** Occurrences of one step that are searched for merged ones; only days to which fires move have any. */
const maxOccurrencesRead = 2_000;
/** Merged occurrences of one step get an entry each up to this number; more of them get one entry together. */
const maxEntries = 10;

/** A step of a schedule from one occurrence to the next. */
export interface ScheduleStep {
  readonly spec: ScheduleSpec;
  readonly schedule: CompiledSchedule;
  /** Every occurrence up to here was decided before. */
  readonly settledTo: Instant;
  /** The first and the last occurrence that the step decides. */
  readonly nominal: Instant;
  readonly through: Instant;
  /** The schedule has no occurrence after it. */
  readonly isLast: boolean;
}

/** The occurrences that calendars removed or merged up to the end of a step, for the ledger. */
export function calendarNotes(step: ScheduleStep): readonly LedgerRange[] {
  if (!usesCalendars(step.spec)) return [];
  return [...removedBy(step), ...mergedInto(step)];
}

export function usesCalendars(spec: ScheduleSpec): boolean {
  return calendarRuleOf(spec) !== null;
}

/**
 * The job's next time may have been computed with an older version of its calendars: the step decides that occurrence, and it is not removed as
 * well if the newest version excludes it.
 */
function removedBy(step: ScheduleStep): LedgerRange[] {
  const { spec, schedule, settledTo, nominal, through, isLast } = step;
  const until = isLast ? (endOf(spec) ?? through) : through;
  const isBehind = schedule.nextNominal(nominal - 1) !== nominal;
  if (!isBehind) return removedIn(schedule, settledTo, until);
  return [...removedIn(schedule, settledTo, nominal - 1), ...removedIn(schedule, nominal, until)];
}

/**
 * The instants that calendars removed after the last occurrence of a schedule, up to the end of the schedule: no later occurrence adds them to
 * the ledger. `after`: the last occurrence, or the time from which a schedule without an occurrence is in force.
 */
export function restNotes(spec: ScheduleSpec, schedule: CompiledSchedule, after: Instant): readonly LedgerRange[] {
  const end = endOf(spec);
  return end === undefined || !usesCalendars(spec) ? [] : removedIn(schedule, after, end);
}

/** The end of a schedule; undefined: it has none. */
export function endOf(spec: ScheduleSpec): Instant | undefined {
  return "endsAt" in spec ? spec.endsAt : undefined;
}

/** The instants that calendars removed with after < instant <= through: one range, or none. */
export function removedIn(schedule: CompiledSchedule, after: Instant, through: Instant): LedgerRange[] {
  const removed = schedule.removedRange(after, through);
  if (removed === null) return [];
  const { first, last, count } = removed;
  const [one, other] = [calendarOf(first.notes), calendarOf(last.notes)];
  return [{ reason: "calendar", from: first.at, to: last.at, count, detail: one === other ? one : null }];
}

function mergedInto({ schedule, nominal, through }: ScheduleStep): LedgerRange[] {
  const merged = schedule.mergedBetween(nominal, through, maxOccurrencesRead);
  const ranges = merged.map(({ at, calendar }) => rangeOf("merged", at, calendar));
  return ranges.length <= maxEntries ? ranges : [ranges.reduce(joined)];
}

function rangeOf(reason: LedgerRange["reason"], at: Instant, detail: string): LedgerRange {
  return { reason, from: at, to: at, count: 1, detail };
}

/** The detail names a calendar only if it closed all of them. */
function joined(one: LedgerRange, other: LedgerRange): LedgerRange {
  const [from, to] = [Math.min(one.from, other.from), Math.max(one.to, other.to)];
  return { ...one, from, to, count: one.count + other.count, detail: one.detail === other.detail ? one.detail : null };
}

function calendarOf(notes: readonly FireNote[]): string | null {
  for (const note of notes) if (note.kind === "excluded") return note.calendar;
  return null;
}
