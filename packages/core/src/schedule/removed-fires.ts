import type { CivilDay } from "../calendar/civil-day.js";
import type { OpenDays } from "../calendar/open-days.js";
import { MAX_ROLL_DAYS } from "../calendar/roll-day.js";
import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { Zone } from "../zone/zone.js";
import type { FireNote, RemovedFire } from "./compiled.js";
import type { FireSequence } from "./fire-sequence.js";
import { startOfDay } from "./local-day.js";
import type { Roll } from "./spec.js";

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
  /** Whether fires of closed days are sent to this day. */
  movesTo(day: CivilDay): boolean;
}

/** The fires with from < at <= to that calendars take away for good, at most `limit`. */
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

/** What the calendars say of a fire that they take away. */
export function exclusion({ open, roll }: CalendarLayer, day: number): FireNote {
  const calendar = open.closedBy(day);
  const cause = calendar?.reason(day) ?? (calendar === null ? null : "not in the calendar");
  const lost = roll === "skip" ? null : `no open day to move to within ${MAX_ROLL_DAYS} days and the schedule's bounds`;
  const reason = [cause, lost].filter((part) => part !== null).join("; ");
  return { kind: "excluded", calendar: calendar?.name ?? "", reason };
}
