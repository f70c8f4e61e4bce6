import type { Instant } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { WallMs, Zone } from "../zone/zone.js";
import type { DstPolicy } from "./spec.js";

/** A part of one local day with a constant offset: from <= instant < to. */
export interface DaySegment {
  readonly from: Instant;
  readonly to: Instant;
  readonly offsetMs: number;
}

const DAY_SECONDS = DAY_MS / 1000;

/** Larger than any jump of a wall clock. */
const MAX_JUMP_MS = 26 * 3_600_000;

/**
 * The segments of a local day, in order: usually one, two around a clock change, none for a day that the zone skipped.
 */
export function segmentsOfDay(zone: Zone, day: CivilDay): DaySegment[] {
  const segments: DaySegment[] = [];
  const latest = (day + 2) * DAY_SECONDS;
  for (let at = (day - 1) * DAY_SECONDS; at < latest;) {
    const span = zone.spanAt(at);
    const from = Math.max(at, day * DAY_SECONDS - span.offset);
    const to = Math.min(span.end, (day + 1) * DAY_SECONDS - span.offset);
    if (from < to) segments.push({ from: from * 1000, to: to * 1000, offsetMs: span.offset * 1000 });
    at = span.end;
  }
  return segments;
}

/** The first instant of a local day; if a clock change skips midnight, the first after the gap. */
export function startOfDay(zone: Zone, day: CivilDay): Instant {
  return zone.toInstant(day * DAY_MS);
}

/** The instant from which on no instant belongs to the local day or an earlier one. */
export function endOfDay(zone: Zone, day: CivilDay): Instant {
  return zone.toInstant((day + 1) * DAY_MS, { overlap: "second" });
}

/** The constant offset of a local day and its neighbours; null if a clock change is near. */
export function steadyOffset(zone: Zone, day: CivilDay): number | null {
  const { offset } = zone.spanAt((day - 2) * DAY_SECONDS);
  for (let at = (day - 2) * DAY_SECONDS; at < (day + 3) * DAY_SECONDS;) {
    const span = zone.spanAt(at);
    if (span.offset !== offset) return null;
    at = span.end;
  }
  return offset * 1000;
}

/** Whether a clock change skips a reading of the day. */
export function hasGap(zone: Zone, day: CivilDay): boolean {
  const start = day * DAY_SECONDS;
  for (let at = start - DAY_SECONDS; at < start + 2 * DAY_SECONDS;) {
    const { end, offset, shiftOut } = zone.spanAt(at);
    const stopped = end + offset;
    if (shiftOut > 0 && stopped < start + DAY_SECONDS && stopped + shiftOut > start) return true;
    at = end;
  }
  return false;
}

/**
 * The smallest wall reading whose instant is later than `instant`. Instants ascend with their readings (all readings in a gap
 * stand for the first instant after it), so a bisection solves the rare cases around a clock change.
 */
export function firstWallAfter(zone: Zone, instant: Instant, overlap: DstPolicy["overlap"]): WallMs {
  const policy: DstPolicy = overlap === undefined ? {} : { overlap };
  const isLater = (wall: WallMs) => zone.toInstant(wall, policy) > instant;
  const plain = zone.toWall(instant) + 1;
  if (isLater(plain) && !isLater(plain - 1)) return plain;
  let early = plain - MAX_JUMP_MS;
  let late = plain + MAX_JUMP_MS;
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (isLater(middle)) late = middle;
    else early = middle;
  }
  return late;
}
