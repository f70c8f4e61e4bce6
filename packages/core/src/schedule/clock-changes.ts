import { type CivilDay, DAY_MS } from "../calendar/civil-day.js";
import { type CompiledCron, compileCron } from "../cron/compile.js";
import { isFixedTime } from "../cron/fields.js";
import { wallText } from "../cron/wall-text.js";
import type { Instant } from "../time/instant.js";
import type { OffsetSpan } from "../zone/offset-table.js";
import type { CronSchedule } from "./spec.js";

/** A change of the clock that touches fires of a schedule, with what becomes of them. */
export interface TouchedChange {
  readonly at: Instant;
  /** The local date of the fire. */
  readonly day: CivilDay;
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
    const fire = span.end < to / 1000 ? touchedFire(wall, span) : null;
    if (fire !== null) {
      const day = Math.floor((fire * 1000) / DAY_MS);
      touched.push({ at: span.end * 1000, day, message: messageFor(spec, isFixedTime(cron.fields), span, fire) });
    }
    at = span.end;
  }
  return touched;
}

/** The first reading, in seconds, that the schedule names and that the change at the span's end skips or repeats. */
function touchedFire(wall: CompiledCron, span: OffsetSpan): number | null {
  const from = span.end + span.offset + Math.min(span.shiftOut, 0);
  const fire = wall.next(from * 1000 - 1) / 1000;
  return fire >= from && fire < from + Math.abs(span.shiftOut) ? fire : null;
}

function messageFor(spec: CronSchedule, isFixed: boolean, span: OffsetSpan, fire: number): string {
  const before = span.end + span.offset;
  const after = before + span.shiftOut;
  const day = wallText(fire).slice(0, 10);
  const time = (reading: number) => wallText(reading).slice(11, 16);
  const skips = span.shiftOut > 0;
  const range = skips ? `skips ${time(before)} to ${time(after)}` : `repeats ${time(after)} to ${time(before)}`;
  return `on ${day} the clock in ${spec.timeZone} ${range}: the fire at ${time(fire)} ${skips ? inGap() : inOverlap()}`;

  function inGap(): string {
    const late = (spec.dst?.gap ?? (isFixed ? "after" : "skip")) === "after";
    return late ? `happens right after, at ${time(after)}` : "does not happen";
  }

  function inOverlap(): string {
    const overlap = spec.dst?.overlap ?? (isFixed ? "first" : "both");
    return { first: "happens the first time", second: "happens the second time", both: "happens twice" }[overlap];
  }
}
