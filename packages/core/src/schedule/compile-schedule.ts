import type { CalendarSet } from "../calendar/calendar.js";
import { compileOpenDays } from "../calendar/open-days.js";
import { compileCron } from "../cron/compile.js";
import { type DurationMs, FIRST_INSTANT, type Instant, LAST_INSTANT, NEVER } from "../time/instant.js";
import { resolveZone, type Zone } from "../zone/zone.js";
import { type CalendarLayer, mergedAt, mergedFires, removedFires, removedRange } from "./calendar-effects.js";
import { requireSchedule } from "./check-schedule.js";
import type { CompiledSchedule, Fire, MergedFire, RemovedFire, RemovedRange } from "./compiled.js";
import {
  cronFires,
  fireEvery,
  fireOnceAt,
  type FireSequence,
  neverFires,
  policyForMoved,
  withinBounds,
} from "./fire-sequence.js";
import { MovedFires } from "./moved-fires.js";
import { OpenDayFires } from "./open-day-fires.js";
import { RolledFires } from "./rolled-fires.js";
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

/** A sequence of fires with its jitter. */
class Schedule implements CompiledSchedule {
  readonly #fires: FireSequence;
  readonly #jitter: (nominal: Instant) => DurationMs;
  readonly #calendars: CalendarLayer | null;

  constructor(fires: FireSequence, jitter: (nominal: Instant) => DurationMs, calendars: CalendarLayer | null) {
    this.#fires = fires;
    this.#jitter = jitter;
    this.#calendars = calendars;
  }

  nextNominal(after: Instant): Instant {
    return this.#fires.nextNominal(Math.floor(after));
  }

  previousNominal(before: Instant): Instant {
    return this.#fires.previousNominal(Math.ceil(before));
  }

  countBetween(after: Instant, before: Instant): number {
    const from = Math.max(Math.floor(after), FIRST_INSTANT - 1);
    return this.#fires.countBetween(from, Math.min(Math.ceil(before), LAST_INSTANT + 1));
  }

  jitterAt(nominal: Instant): DurationMs {
    return this.#jitter(nominal);
  }

  next(after: Instant): Fire | null {
    return this.#fireAt(this.nextNominal(after));
  }

  previous(before: Instant): Fire | null {
    return this.#fireAt(this.previousNominal(before));
  }

  between(from: Instant, to: Instant, limit: number): Fire[] {
    const fires: Fire[] = [];
    let fire = this.next(from);
    while (fire !== null && fire.nominal <= to && fires.length < limit) {
      fires.push(fire);
      fire = this.next(fire.nominal);
    }
    return fires;
  }

  removedBetween(from: Instant, to: Instant, limit: number): RemovedFire[] {
    return this.#calendars === null ? [] : removedFires(this.#calendars, Math.floor(from), to, limit);
  }

  removedRange(from: Instant, to: Instant): RemovedRange | null {
    return this.#calendars === null ? null : removedRange(this.#calendars, Math.floor(from), Math.floor(to));
  }

  mergedAt(nominal: Instant): MergedFire[] {
    return this.#isRolled ? mergedAt(this.#fires, nominal) : [];
  }

  mergedBetween(from: Instant, to: Instant, limit: number): MergedFire[] {
    if (this.#calendars === null || !this.#isRolled) return [];
    return mergedFires(this.#fires, this.#calendars, { from: Math.ceil(from), to: Math.floor(to), limit });
  }

  get #isRolled(): boolean {
    return this.#calendars !== null && this.#calendars.roll !== "skip";
  }

  #fireAt(nominal: Instant): Fire | null {
    if (nominal === NEVER) return null;
    const byMs = this.#jitter(nominal);
    const notes = this.#fires.notesAt(nominal);
    if (byMs === 0) return { nominal, fireAt: nominal, notes };
    return { nominal, fireAt: nominal + byMs, notes: [...notes, { kind: "jittered", byMs }] };
  }
}

/** The finaliser of MurmurHash3, which mixes 32 bits; two of them give the 53 bits of a delay. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = mix(hash ^ text.charCodeAt(index)) + index;
  return mix(hash ^ text.length);
}

/**
 * The delay that jitter adds to each nominal instant of a job: uniform over 0 … jitterMs - 1, and a hash, so that every node
 * computes the same. The job id is hashed only once.
 */
export function compileJitter(jobId: string, jitterMs: DurationMs): (nominal: Instant) => DurationMs {
  if (jitterMs <= 0) return () => 0;
  const low = hashText(jobId, 0x9e3779b9);
  const high = hashText(jobId, 0x7f4a7c15);
  return (nominal) => {
    const lower = nominal | 0;
    const upper = Math.floor(nominal / 0x1_0000_0000) | 0;
    const one = mix(mix(low ^ lower) + upper);
    const two = mix(mix(high ^ upper) + lower);
    return ((two >>> 11) * 0x1_0000_0000 + one) % jitterMs;
  };
}
