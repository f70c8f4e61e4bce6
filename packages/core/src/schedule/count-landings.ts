import { type Instant, NEVER } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { FireSequence } from "./fire-sequence.js";
import { segmentsOfDay, steadyOffset } from "./local-day.js";
import type { MovedFires, RollRule } from "./moved-fires.js";
import type { OpenDayFires } from "./open-day-fires.js";

/** The fires of a rolled schedule: all fires of the rule, the unmoved and the moved ones. */
export interface RolledParts {
  readonly raw: FireSequence;
  readonly rule: RollRule;
  readonly unmoved: OpenDayFires;
  readonly moved: MovedFires;
}

/** A clock change can shift a moved fire into a neighbouring day; a skipped or repeated day adds another. */
const SLACK_DAYS = 2;

/**
 * How many moved fires one count visits; further ones are not counted. Only an interval of a few seconds that does not
 * divide a day has more, when weeks of closed days move to a day beside a clock change.
 */
const MAX_WALKED = 2_000_000;

/** The range in which moved fires may land, and the landings found by walking. */
interface Landings {
  readonly after: Instant;
  readonly before: Instant;
  readonly walked: Set<Instant>;
  left: number;
}

/** A closed day whose fires move, with its offset if no clock change is near. */
interface Source {
  readonly source: CivilDay;
  readonly offsetMs: number | null;
}

/** The day with the most fires among those with the same phase. */
interface Fullest {
  readonly source: CivilDay;
  readonly shiftMs: number;
  readonly count: number;
}

/**
 * Counts the instants strictly between two on which only moved fires land. Steps from open day to open day. Days far from a
 * clock change are compared by arithmetic: fires of two of them land on all the same times or on none. Near a clock change,
 * each moved fire is visited.
 */
export function countLandings(parts: RolledParts, after: Instant, before: Instant): number {
  const { moved, rule } = parts;
  const { open, zone } = rule;
  if (before - after <= 1) return 0;
  const landings: Landings = { after, before, walked: new Set(), left: MAX_WALKED };
  const lastDay = zone.localDay(before) + SLACK_DAYS;
  let count = 0;
  let day = open.next(zone.localDay(after) - SLACK_DAYS, lastDay);
  while (day !== null) {
    const sources = moved.sourcesOf(day).map((source) => ({ source, offsetMs: steadyOffset(zone, source) }));
    if (sources.length > 0) count += countOn(parts, day, sources, landings);
    day = open.next(day + 1, lastDay);
  }
  return count + landings.walked.size;
}

/** The landings on a day that arithmetic can count; the others are added to `walked`. */
function countOn(parts: RolledParts, day: CivilDay, sources: readonly Source[], landings: Landings): number {
  const offsetMs = steadyOffset(parts.rule.zone, day);
  const unsteady = sources.filter((one) => one.offsetMs === null);
  if (offsetMs === null) {
    const whole = { from: -Infinity, to: Infinity, day, offsetMs: 0 };
    const chosen = [...fullestByPhase(parts, whole, sources).values()];
    for (const { source } of [...unsteady, ...chosen]) walkLandings(parts, { source, day }, landings, new Map());
    return 0;
  }
  const from = Math.max(landings.after, day * DAY_MS - offsetMs - 1);
  const to = Math.min(landings.before, (day + 1) * DAY_MS - offsetMs);
  if (from >= to) return 0;
  const stay = parts.raw.countBetween(from, to);
  const fullest = fullestByPhase(parts, { from, to, day, offsetMs }, [{ source: day, offsetMs }, ...sources]);
  for (const { source } of unsteady) walkLandings(parts, { source, day }, landings, fullest);
  let count = -stay;
  for (const one of fullest.values()) count += one.count;
  return count;
}

/**
 * Fires of two days with different phases never land on the same time. Of the days with one phase, one has all times of the
 * others: a day of a cron rule has the same times or none, a day of an interval may be cut short by its anchor.
 */
function phaseOf({ everyMs }: RollRule, movedDays: number, offsetMs: number): number {
  if (everyMs === null) return 0;
  const phase = (movedDays * DAY_MS + offsetMs) % everyMs;
  return phase < 0 ? phase + everyMs : phase;
}

interface Target {
  readonly day: CivilDay;
  readonly offsetMs: number;
  /** from < landing < to. */
  readonly from: Instant;
  readonly to: Instant;
}

/** The day with the most fires of each phase, among the days far from a clock change. */
function fullestByPhase(parts: RolledParts, target: Target, sources: readonly Source[]): Map<number, Fullest> {
  const { raw, rule } = parts;
  const fullest = new Map<number, Fullest>();
  for (const { source, offsetMs } of sources) {
    if (offsetMs === null) continue;
    const shiftMs = (target.day - source) * DAY_MS + offsetMs - target.offsetMs;
    const start = source * DAY_MS - offsetMs;
    const after = Math.max(target.from - shiftMs, start - 1);
    const count = raw.countBetween(after, Math.min(target.to - shiftMs, start + DAY_MS));
    const phase = phaseOf(rule, target.day - source, offsetMs);
    if (count > (fullest.get(phase)?.count ?? 0)) fullest.set(phase, { source, shiftMs, count });
  }
  return fullest;
}

interface Move {
  readonly source: CivilDay;
  readonly day: CivilDay;
}

/** Visits each fire of a day that moves, except those that land on a time of a day in `counted`. */
function walkLandings(
  { raw, rule, unmoved, moved }: RolledParts,
  { source, day }: Move,
  landings: Landings,
  counted: ReadonlyMap<number, Fullest>,
): void {
  const { after, before, walked } = landings;
  const fires = (instant: Instant) => raw.nextNominal(instant - 1) === instant;
  for (const { from, to, offsetMs } of segmentsOfDay(rule.zone, source)) {
    const known = counted.get(phaseOf(rule, day - source, offsetMs));
    let fire = raw.nextNominal(from - 1);
    for (; fire !== NEVER && fire < to && landings.left > 0; landings.left -= 1) {
      const image = moved.imageOf(fire);
      const isWithin = image !== NEVER && image > after && image < before;
      const isCounted = known !== undefined && fires(image - known.shiftMs);
      if (isWithin && !isCounted && unmoved.nextNominal(image - 1, image) !== image) walked.add(image);
      fire = raw.nextNominal(fire);
    }
  }
}
