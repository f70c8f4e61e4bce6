import { MAX_ROLL_DAYS, type OpenDays, rollDay } from "../calendar/open-days.js";
import { type Instant, NEVER } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { Zone } from "../zone/zone.js";
import type { FireNote, MergedFire, RemovedFire, RemovedRange } from "./compiled.js";
import type { FireSequence } from "./fire-sequence.js";
import { endOfDay, hasGap, segmentsOfDay, startOfDay } from "./local-day.js";
import { SEARCH_DAYS } from "./open-day-fires.js";
import type { Roll } from "./spec.js";

/** A rule with its calendars: the fires of the rule, and where those of closed days move. */
export interface CalendarLayer {
  /** The rule's own fires, within the schedule's bounds. */
  readonly raw: FireSequence;
  readonly zone: Zone;
  readonly open: OpenDays;
  readonly roll: Roll;
  /** A fire that would move into a gap is lost. */
  readonly skipsGaps: boolean;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  /** Where a fire of a closed day lands, or NEVER. */
  imageOf(fire: Instant): Instant;
  /** Whether fires of closed days move to this day. */
  movesTo(day: CivilDay): boolean;
}

/** The fires with from < at <= to that calendars remove, at most `limit`. */
export function removedFires(layer: CalendarLayer, from: Instant, to: Instant, limit: number): RemovedFire[] {
  const { raw, zone, open } = layer;
  const removed: RemovedFire[] = [];
  let fire = raw.nextNominal(from);
  while (fire !== NEVER && fire <= to && removed.length < limit) {
    const day = zone.localDay(fire);
    if (open.isOpen(day)) {
      fire = raw.nextNominal(Math.max(fire, startOfDay(zone, day + 1) - 1));
      continue;
    }
    if (layer.imageOf(fire) === NEVER) removed.push({ at: fire, notes: [exclusion(layer, day)] });
    fire = raw.nextNominal(fire);
  }
  return removed;
}

/** The note of a removed fire. */
function exclusion({ open, roll }: CalendarLayer, day: number): FireNote {
  const calendar = open.closedBy(day);
  const cause = calendar?.reason(day) ?? (calendar === null ? null : "not in the calendar");
  const lost = roll === "skip" ? null : `no open day to move to within ${MAX_ROLL_DAYS} days and the schedule's bounds`;
  const reason = [cause, lost].filter((part) => part !== null).join("; ");
  return { kind: "excluded", calendar: calendar?.name ?? "", reason };
}

/** The removed fires found so far: NEVER and 0 if there are none. */
interface Tally {
  readonly first: Instant;
  readonly last: Instant;
  readonly count: number;
}

const NOTHING: Tally = { first: NEVER, last: NEVER, count: 0 };

/**
 * The fires with from < at <= to that calendars remove, as one range. Steps from day to day of the rule's fires, for at most
 * SEARCH_DAYS. Single fires are read only on days of which some fires move and some are lost.
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

/** This day or a later one, without fires in between; null if no fires are left. */
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
  const effect = effectOn(layer, day);
  if (effect === "moved") return NOTHING;
  let tally = NOTHING;
  for (const segment of segmentsOfDay(layer.zone, day)) {
    const stretch = { from: Math.max(segment.from, within.from), to: Math.min(segment.to - 1, within.to) };
    if (stretch.from > stretch.to) continue;
    tally = joined(tally, effect === "removed" ? allFires(layer, stretch) : lostFires(layer, stretch));
  }
  return tally;
}

/** Whether the fires of a closed day are removed or move. A roll can lose some to a clock change or to the bounds: mixed. */
function effectOn(layer: CalendarLayer, day: CivilDay): "removed" | "moved" | "mixed" {
  const { zone, open, startsAt, endsAt } = layer;
  const target = rollDay(day, layer.roll, open);
  if (target === null) return "removed";
  // Every fire that moves to the target day lands between these two, also in a gap.
  const first = startOfDay(zone, target);
  const last = endOfDay(zone, target);
  if (last < startsAt || first > endsAt) return "removed";
  if (first < startsAt || last > endsAt) return "mixed";
  return layer.skipsGaps && hasGap(zone, target) ? "mixed" : "moved";
}

function allFires({ raw }: CalendarLayer, { from, to }: Stretch): Tally {
  const count = raw.countBetween(from - 1, to + 1);
  return count === 0 ? NOTHING : { first: raw.nextNominal(from - 1), last: raw.previousNominal(to + 1), count };
}

function lostFires(layer: CalendarLayer, { from, to }: Stretch): Tally {
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

/** The fires that a roll merged into a nominal instant, without the one that remains. */
export function mergedAt(fires: FireSequence, nominal: Instant): MergedFire[] {
  return fires
    .notesAt(nominal)
    .flatMap((note) => (note.kind === "merged" ? [{ at: note.from, calendar: note.calendar }] : []));
}

/**
 * The merged fires of the nominal instants with from <= nominal <= to, of which at most `limit` are read. Days to which no fires
 * move, which most are, are skipped as a whole.
 */
export function mergedFires(
  fires: FireSequence,
  layer: CalendarLayer,
  { from, to, limit }: { readonly from: Instant; readonly to: Instant; readonly limit: number },
): MergedFire[] {
  const { zone } = layer;
  const merged: MergedFire[] = [];
  let read = 0;
  let nominal = fires.nextNominal(from - 1);
  while (nominal !== NEVER && nominal <= to && read < limit) {
    const day = zone.localDay(nominal);
    // A clock change can shift a moved fire into a neighbouring day.
    if ([day - 1, day, day + 1].some((near) => layer.movesTo(near))) {
      read += 1;
      merged.push(...mergedAt(fires, nominal));
      nominal = fires.nextNominal(nominal);
    } else nominal = fires.nextNominal(Math.max(nominal, startOfDay(zone, day + 1) - 1));
  }
  return merged;
}
