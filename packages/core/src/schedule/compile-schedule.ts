import type { CalendarSet } from "../calendar/calendar.js";
import { compileOpenDays } from "../calendar/open-days.js";
import { compileCron } from "../cron/compile.js";
import { type DurationMs, NEVER } from "../time/instant.js";
import { resolveZone } from "../zone/resolve-zone.js";
import type { Zone } from "../zone/zone.js";
import type { CalendarLayer } from "./calendar-effects.js";
import { requireSchedule } from "./check-schedule.js";
import type { CompiledSchedule } from "./compiled.js";
import {
  type FireSequence,
  cronFires,
  fireEvery,
  fireOnceAt,
  neverFires,
  policyForMoved,
  withinBounds,
} from "./fire-sequence.js";
import { MovedFires } from "./moved-fires.js";
import { OpenDayFires } from "./open-day-fires.js";
import { RolledFires } from "./rolled-fires.js";
import { Schedule, compileJitter } from "./schedule.js";
import type { CronSchedule, DstPolicy, EverySchedule, ScheduleSpec } from "./spec.js";

export interface ScheduleContext {
  /** Part of the jitter's hash, so that two jobs with the same rule get different delays. */
  readonly jobId: string;
  /** The calendars of the namespace; required if the schedule names one. */
  readonly calendars?: CalendarSet;
  /** Skips the check, for schedules that were checked when they were accepted. */
  readonly checked?: boolean;
}

/** Compiles a schedule. Throws the errors of `requireSchedule`, and `schedule_invalid` for unknown calendars. */
export function compileSchedule(spec: ScheduleSpec, context: ScheduleContext): CompiledSchedule {
  return compileRule(spec, context)(context.jobId);
}

/**
 * Compiles a rule that many jobs share: once, with a jitter for each job; without jitter all jobs get the same object. Throws
 * the errors of `compileSchedule`.
 */
export function compileRule(spec: ScheduleSpec, context: Context): (jobId: string) => CompiledSchedule {
  if (context.checked !== true) requireSchedule(spec);
  const jitterMs = "jitterMs" in spec ? (spec.jitterMs ?? 0) : 0;
  const { fires, layer } = parts(spec, context);
  if (jitterMs > 0) return (jobId) => new Schedule(fires, compileJitter(jobId, jitterMs), layer);
  const shared = new Schedule(fires, () => 0, layer);
  return () => shared;
}

type Context = Omit<ScheduleContext, "jobId">;

interface Parts {
  readonly fires: FireSequence;
  readonly layer: CalendarLayer | null;
}

function parts(spec: ScheduleSpec, context: Context): Parts {
  switch (spec.kind) {
    case "manual":
    case "after":
      return { fires: neverFires, layer: null };
    case "at":
      return { fires: fireOnceAt(spec.at), layer: null };
    case "every": {
      const zone = resolveZone(spec.timeZone ?? "UTC");
      const raw = fireEvery(spec.everyMs, spec.anchor);
      return compose(spec, context, { raw, zone, dst: {}, everyMs: spec.everyMs });
    }
    default: {
      const cron = compileCron(spec.cron, spec);
      const dst = policyForMoved(cron, spec.dst);
      return compose(spec, context, { raw: cronFires(cron), zone: cron.zone, dst, everyMs: null });
    }
  }
}

interface Rule {
  readonly raw: FireSequence;
  readonly zone: Zone;
  readonly dst: DstPolicy;
  readonly everyMs: DurationMs | null;
}

/** Calendars apply to every fire of the rule; bounds apply to the result. */
function compose(spec: CronSchedule | EverySchedule, context: Context, rule: Rule): Parts {
  const { startsAt, endsAt, calendars } = spec;
  if (calendars === undefined) return { fires: withinBounds(rule.raw, startsAt, endsAt), layer: null };
  const { raw, zone, dst, everyMs } = rule;
  const { roll = "skip" } = calendars;
  const open = compileOpenDays(calendars, context.calendars ?? new Map());
  const rolling = { zone, open, roll, dst, everyMs };
  const fires = roll === "skip" ? new OpenDayFires(raw, zone, open) : new RolledFires(raw, rolling);
  const moved = new MovedFires(raw, rolling);
  const layer: CalendarLayer = {
    raw: withinBounds(raw, startsAt, endsAt),
    zone,
    open,
    roll,
    skipsGaps: dst.gap === "skip",
    startsAt: startsAt ?? -Infinity,
    endsAt: endsAt ?? Infinity,
    imageOf: (fire) => {
      const image = moved.imageOf(fire);
      return image < (startsAt ?? image) || image > (endsAt ?? image) ? NEVER : image;
    },
    movesTo: (day) => moved.sourcesOf(day).length > 0,
  };
  return { fires: withinBounds(fires, startsAt, endsAt), layer };
}
