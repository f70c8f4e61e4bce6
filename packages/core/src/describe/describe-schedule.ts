import type { FireNote } from "../schedule/compiled.js";
import type { AfterSchedule, CalendarRule, DstPolicy, Roll, ScheduleBounds, ScheduleSpec } from "../schedule/spec.js";
import { formatInstant } from "../time/instant-text.js";
import type { DurationMs, Instant } from "../time/instant.js";
import { describeCron } from "./describe-cron.js";
import { count, durationInWords, listOf } from "./phrases.js";

/** Describes a schedule in one English sentence. Throws `cron_invalid` or `cron_never_fires`. */
export function describeSchedule(spec: ScheduleSpec): string {
  switch (spec.kind) {
    case "manual":
      return "Only when asked";
    case "after":
      return describeAfter(spec);
    case "at":
      return `Once at ${instantText(spec.at)}`;
    case "every":
      return `${pace(spec.everyMs)}, counted from ${instantText(spec.anchor)}${describeBounds(spec)}`;
    default:
      return `${describeCron(spec)}, ${spec.timeZone}${describeDst(spec.dst)}${describeBounds(spec)}`;
  }
}

function pace(everyMs: DurationMs): string {
  const words = durationInWords(everyMs);
  return `Every ${/^1 [a-z]+$/.test(words) ? words.slice(2) : words}`;
}

function describeAfter({ after, mode = "all" }: AfterSchedule): string {
  const verbs = { success: "succeeds", failure: "fails", finish: "finishes" };
  const jobs = after.map(({ job, on, when }) => `job ${job} ${verbs[on]}${when === undefined ? "" : ` with ${when}`}`);
  return `After ${listOf(jobs, mode === "any" ? "or" : "and")}`;
}

function describeDst({ gap, overlap }: DstPolicy = {}): string {
  const inGap = { after: "right after the gap", skip: "not at all" };
  const inOverlap = { first: "at the first pass", second: "at the second pass", both: "at both passes" };
  const skipped = gap === undefined ? "" : `, ${inGap[gap]} when the clock skips the time`;
  return overlap === undefined ? skipped : `${skipped}, ${inOverlap[overlap]} when the clock repeats the time`;
}

function describeBounds({ startsAt, endsAt, maxRuns, jitterMs, calendars }: ScheduleBounds): string {
  const parts = calendars === undefined ? [] : describeCalendars(calendars);
  if (startsAt !== undefined) parts.push(`from ${instantText(startsAt)}`);
  if (endsAt !== undefined) parts.push(`until ${instantText(endsAt)}`);
  if (maxRuns !== undefined) parts.push(`at most ${count(maxRuns, "time")}`);
  if (jitterMs !== undefined && jitterMs > 0) parts.push(`delayed by up to ${durationInWords(jitterMs)}`);
  return parts.map((part) => `, ${part}`).join("");
}

const ROLLS: Record<Exclude<Roll, "skip">, string> = {
  next: "moved to the next open day",
  previous: "moved to the previous open day",
  modified_following: "moved to the next open day of the month, else to the previous one",
};

function describeCalendars({ exclude = [], only = [], roll = "skip" }: CalendarRule): string[] {
  const parts: string[] = [];
  if (only.length > 0) parts.push(`only on days of ${listOf(only, "or")}`);
  if (exclude.length > 0) parts.push(`except on days of ${listOf(exclude, "or")}`);
  return roll === "skip" ? parts : [...parts, `then ${ROLLS[roll]}`];
}

function instantText(instant: Instant): string {
  return new Date(instant).toISOString().replace(".000Z", "Z");
}

/** Describes why a fire differs from the rule. */
export function describeFireNote(note: FireNote): string {
  switch (note.kind) {
    case "gap":
      return `the clocks skip ${note.wallTime}`;
    case "overlap":
      return `${note.pass} pass of a repeated hour`;
    case "rolled":
      return `moved from ${formatInstant(note.from)} by ${note.calendar}`;
    case "merged":
      return `stands for ${formatInstant(note.from)} too, by ${note.calendar}`;
    case "excluded":
      return `left out by ${note.calendar}${note.reason === undefined ? "" : ` (${note.reason})`}`;
    case "jittered":
      return `${note.byMs} ms later by jitter`;
    default:
      return note satisfies never;
  }
}
