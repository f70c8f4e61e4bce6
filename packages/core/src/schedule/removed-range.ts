import { type CivilDay, DAY_MS } from "../calendar/civil-day.js";
import { rollDay } from "../calendar/roll-day.js";
import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { RemovedFire, RemovedRange } from "./compiled.js";
import { endOfDay, hasGap, segmentsOfDay, startOfDay } from "./local-day.js";
import { SEARCH_DAYS } from "./open-day-fires.js";
import { type CalendarLayer, exclusion } from "./removed-fires.js";

/** The removed fires found so far: NEVER and 0 while there are none. */
interface Tally {
  readonly first: Instant;
  readonly last: Instant;
  readonly count: number;
}

const NOTHING: Tally = { first: NEVER, last: NEVER, count: 0 };

/**
 * The fires with from < at <= to that calendars take away for good, as one range. Goes from day to day of the rule's
 * fires, for SEARCH_DAYS at most; within a day, only the fires of one whose fate is mixed are looked at.
 */
export function removedRange(layer: CalendarLayer, from: Instant, to: Instant): RemovedRange | null {
  const { raw, zone, open } = layer;
  const start = raw.nextNominal(from);
  if (start === NEVER || start > to) return null;
  const until = Math.min(to, start + SEARCH_DAYS * DAY_MS);
  // One day of slack at both ends: a clock can go back over midnight.
  const lastDay = zone.localDay(until) + 1;
  let tally = NOTHING;
  for (let day: CivilDay | null = zone.localDay(start) - 1; day !== null && day <= lastDay;) {
    if (!open.isOpen(day)) tally = joined(tally, removedOn(layer, day, { from: start, to: until }));
    day = dayWithFires(layer, day + 1);
  }
  if (tally.count === 0) return null;
  const removed = (at: Instant): RemovedFire => ({ at, notes: [exclusion(layer, zone.localDay(at))] });
  return { first: removed(tally.first), last: removed(tally.last), count: tally.count };
}

/** This day or a later one, none with fires in between; null when there are no more. */
function dayWithFires({ raw, zone }: CalendarLayer, day: CivilDay): CivilDay | null {
  const fire = raw.nextNominal(startOfDay(zone, day) - 1);
  return fire === NEVER ? null : Math.max(day, zone.localDay(fire) - 1);
}

interface Stretch {
  /** from <= instant <= to. */
  readonly from: Instant;
  readonly to: Instant;
}

function removedOn(layer: CalendarLayer, day: CivilDay, within: Stretch): Tally {
  const fate = fateOf(layer, day);
  if (fate === "moved") return NOTHING;
  let tally = NOTHING;
  for (const segment of segmentsOfDay(layer.zone, day)) {
    const stretch = { from: Math.max(segment.from, within.from), to: Math.min(segment.to - 1, within.to) };
    if (stretch.from > stretch.to) continue;
    tally = joined(tally, fate === "removed" ? allOf(layer, stretch) : lostOf(layer, stretch));
  }
  return tally;
}

/** What becomes of all fires of a closed day: rolls lose some to a clock change or to the schedule's bounds. */
function fateOf(layer: CalendarLayer, day: CivilDay): "removed" | "moved" | "mixed" {
  const { zone, open, startsAt, endsAt } = layer;
  const target = rollDay(day, layer.roll, open);
  if (target === null) return "removed";
  // Nothing that is sent to the day lands outside these two, not even through a gap.
  const first = startOfDay(zone, target);
  const last = endOfDay(zone, target);
  if (last < startsAt || first > endsAt) return "removed";
  if (first < startsAt || last > endsAt) return "mixed";
  return layer.skipsGaps && hasGap(zone, target) ? "mixed" : "moved";
}

function allOf({ raw }: CalendarLayer, { from, to }: Stretch): Tally {
  const count = raw.countBetween(from - 1, to + 1);
  return count === 0 ? NOTHING : { first: raw.nextNominal(from - 1), last: raw.previousNominal(to + 1), count };
}

function lostOf(layer: CalendarLayer, { from, to }: Stretch): Tally {
  const { raw } = layer;
  let tally = NOTHING;
  for (let fire = raw.nextNominal(from - 1); fire !== NEVER && fire <= to; fire = raw.nextNominal(fire)) {
    if (layer.imageOf(fire) === NEVER) tally = joined(tally, { first: fire, last: fire, count: 1 });
  }
  return tally;
}

function joined(one: Tally, other: Tally): Tally {
  if (one.count === 0) return other;
  if (other.count === 0) return one;
  return {
    first: Math.min(one.first, other.first),
    last: Math.max(one.last, other.last),
    count: one.count + other.count,
  };
}
