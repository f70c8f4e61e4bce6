import { type CompiledCron, compileCron } from "../cron/compile.js";
import { isFixedTime } from "../cron/fields.js";
import { wallText } from "../cron/wall-text.js";
import type { Instant } from "../time/instant.js";
import type { OffsetSpan } from "../zone/offset-table.js";
import type { CronSchedule } from "./spec.js";

/** A change of the clock that touches fires of a schedule, with what becomes of them. */
export interface TouchedChange {
  readonly at: Instant;
  readonly message: string;
}

/**
 * The changes between two instants that touch a schedule. Wildcard schedules follow elapsed time and are untouched
 * unless a policy was chosen for them.
 */
export function touchedChanges(spec: CronSchedule, from: Instant, to: Instant): TouchedChange[] {
  const cron = compileCron(spec.cron, spec);
  if (!isFixedTime(cron.fields) && spec.dst === undefined) return [];
  const wall = compileCron(spec.cron, { ...spec, timeZone: "UTC" });
  const touched: TouchedChange[] = [];
  for (let at = Math.floor(from / 1000); at < to / 1000;) {
    const span = cron.zone.spanAt(at);
    const message = span.end < to / 1000 ? messageFor(spec, cron, wall, span) : null;
    if (message !== null) touched.push({ at: span.end * 1000, message });
    at = span.end;
  }
  return touched;
}

/** `span` ends with the change. Wall readings and instants are in seconds. */
function messageFor(spec: CronSchedule, cron: CompiledCron, wall: CompiledCron, span: OffsetSpan): string | null {
  const before = span.end + span.offset;
  const after = before + span.shiftOut;
  const first = wall.next(Math.min(before, after) * 1000 - 1) / 1000;
  if (span.shiftOut === 0 || first < Math.min(before, after) || first >= Math.max(before, after)) return null;
  const day = wallText(first).slice(0, 10);
  const time = (reading: number) => wallText(reading).slice(11, 16);
  const fixed = isFixedTime(cron.fields);
  if (span.shiftOut > 0) {
    const late = (spec.dst?.gap ?? (fixed ? "after" : "skip")) === "after";
    const outcome = late ? `happens right after, at ${time(after)}` : "does not happen";
    return `on ${day} the clock in ${spec.timeZone} skips ${time(before)} to ${time(after)}: the fire at ${time(first)} ${outcome}`;
  }
  const overlap = spec.dst?.overlap ?? (fixed ? "first" : "both");
  const outcome = { first: "happens the first time", second: "happens the second time", both: "happens twice" }[
    overlap
  ];
  return `on ${day} the clock in ${spec.timeZone} repeats ${time(after)} to ${time(before)}: the fire at ${time(first)} ${outcome}`;
}
