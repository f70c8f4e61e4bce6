import { wallText } from "../cron/wall-text.js";
import { describeSchedule } from "../describe/describe-schedule.js";
import { twoDigits } from "../describe/phrases.js";
import type { Instant } from "../time/instant.js";
import { resolveZone, type Zone } from "../zone/zone.js";
import { compileSchedule, type ScheduleContext } from "./compile-schedule.js";
import type { FireNote } from "./compiled.js";
import { type ScheduleWarning, scheduleWarnings } from "./schedule-warnings.js";
import type { ScheduleSpec } from "./spec.js";

export interface PreviewOptions {
  /** Fires after this instant. */
  readonly from: Instant;
  readonly count: number;
}

/** One line of a preview: a fire, or one that calendars remove. */
export interface PreviewedFire {
  readonly outcome: "fires" | "excluded";
  readonly nominal: Instant;
  /** `nominal` plus the jitter. */
  readonly fireAt: Instant;
  /** The nominal instant in the time zone of the schedule: 2026-03-29T03:00:00+02:00. */
  readonly wallTime: string;
  readonly notes: readonly FireNote[];
}

export interface SchedulePreview {
  readonly description: string;
  /** In order of time. */
  readonly fires: readonly PreviewedFire[];
  readonly warnings: readonly ScheduleWarning[];
}

/** Excluded fires are shown up to the last fire, or for this long if there is none. */
const YEAR_MS = 366 * 86_400_000;

/** Lists the coming fires of a schedule, with a description and warnings. Throws the errors of `compileSchedule`. */
export function previewSchedule(
  spec: ScheduleSpec,
  context: ScheduleContext,
  options: PreviewOptions,
): SchedulePreview {
  const schedule = compileSchedule(spec, context);
  const fires = schedule.between(options.from, Infinity, options.count);
  const until = fires.at(-1)?.nominal ?? options.from + YEAR_MS;
  const zone = zoneOf(spec);
  const removed = schedule.removedBetween(options.from, until, options.count);
  const lines: PreviewedFire[] = [
    ...fires.map((fire) => ({ outcome: "fires" as const, ...fire, wallTime: zonedText(zone, fire.nominal) })),
    ...removed.map(({ at, notes }) => ({
      outcome: "excluded" as const,
      nominal: at,
      fireAt: at,
      wallTime: zonedText(zone, at),
      notes,
    })),
  ];
  return {
    description: describeSchedule(spec),
    fires: lines.sort((one, other) => one.nominal - other.nominal),
    warnings: scheduleWarnings(spec, context, options.from, until),
  };
}

function zoneOf(spec: ScheduleSpec): Zone {
  return resolveZone(spec.kind === "cron" || spec.kind === "every" ? (spec.timeZone ?? "UTC") : "UTC");
}

function zonedText(zone: Zone, instant: Instant): string {
  const offset = zone.offsetAt(instant) / 1000;
  const size = Math.abs(offset);
  const sign = offset < 0 ? "-" : "+";
  const text = `${sign}${twoDigits(Math.floor(size / 3600))}:${twoDigits(Math.floor(size / 60) % 60)}`;
  return `${wallText(Math.floor(instant / 1000) + offset)}${text}`;
}
