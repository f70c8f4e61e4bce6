import { MAX_ROLL_DAYS, type OpenDays, rollDay } from "../calendar/open-days.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { WallMs, Zone } from "../zone/zone.js";
import type { FireSequence } from "./fire-sequence.js";
import { endOfDay, firstWallAfter, segmentsOfDay, startOfDay } from "./local-day.js";
import { SEARCH_DAYS } from "./open-day-fires.js";
import type { DstPolicy, Roll } from "./spec.js";

export interface RollRule {
  readonly zone: Zone;
  readonly open: OpenDays;
  readonly roll: Roll;
  readonly dst: DstPolicy;
  /** The step of an interval rule; null for a cron rule. */
  readonly everyMs: DurationMs | null;
}

export type Direction = 1 | -1;

/** Enough for any message; a schedule for every second merges 86,400 fires into the end of a gap. */
const MAX_ORIGINS = 100;

/** The fires that a roll moves: those of closed days, at the instants where they land. */
export class MovedFires {
  readonly #raw: FireSequence;
  readonly #rule: RollRule;

  constructor(raw: FireSequence, rule: RollRule) {
    this.#raw = raw;
    this.#rule = rule;
  }

  /** Where a fire of a closed day lands, or NEVER. */
  imageOf(fire: Instant): Instant {
    const wall = this.wallOf(fire);
    return wall === null ? NEVER : this.#rule.zone.toInstant(wall, this.#rule.dst);
  }

  /** The wall reading to which a fire of a closed day moves; null if it is lost. */
  wallOf(fire: Instant): WallMs | null {
    const { zone, open, roll } = this.#rule;
    const wall = zone.toWall(fire);
    const day = Math.floor(wall / DAY_MS);
    const target = rollDay(day, roll, open);
    return target === null ? null : wall + (target - day) * DAY_MS;
  }

  /** The landing instant nearest to `from`, strictly beyond it and not beyond `limit`; NEVER if there is none. */
  nearest(from: Instant, limit: Instant, direction: Direction): Instant {
    const { zone, open, roll, dst } = this.#rule;
    const edge = this.#wallBeyond(from, direction);
    const firstTarget = Math.floor(edge / DAY_MS);
    const lastTarget = this.#lastTarget(firstTarget, limit, direction);
    let found: { readonly target: CivilDay; readonly wall: WallMs } | null = null;
    let next: CivilDay | null = this.#firstSource(firstTarget, direction);
    while (next !== null) {
      const day = this.#dayWithFires(next, direction);
      if (day === null) break;
      const target = rollDay(day, roll, open);
      if (target === null) {
        next = this.pastLostDays(day, direction);
        continue;
      }
      if ((target - lastTarget) * direction > 0 || (found !== null && target !== found.target)) break;
      if (target !== day && (target - firstTarget) * direction >= 0) {
        const wall = this.#wallOn(day, target, target === firstTarget ? edge : null, direction);
        if (wall !== null && (found === null || (wall - found.wall) * direction < 0)) found = { target, wall };
      }
      next = day + direction;
    }
    return found === null ? NEVER : zone.toInstant(found.wall, dst);
  }

  /** The fires that land on an instant, in order. */
  originsOf(nominal: Instant): Instant[] {
    const { zone, dst } = this.#rule;
    const lowest = firstWallAfter(zone, nominal - 1, dst.overlap);
    const highest = firstWallAfter(zone, nominal, dst.overlap) - 1;
    const origins: Instant[] = [];
    for (let target = Math.floor(lowest / DAY_MS); target <= Math.floor(highest / DAY_MS); target += 1) {
      for (const day of this.sourcesOf(target)) {
        const shift = (target - day) * DAY_MS;
        for (const fire of this.#firesOn(day, lowest - shift, highest - shift)) {
          if (zone.toInstant(zone.toWall(fire) + shift, dst) === nominal) origins.push(fire);
        }
      }
    }
    return origins.slice(0, MAX_ORIGINS);
  }

  /** The closed days that move to a day, in order. */
  sourcesOf(target: CivilDay): CivilDay[] {
    const { open, roll } = this.#rule;
    const sources: CivilDay[] = [];
    if (!open.isOpen(target)) return sources;
    const last = this.#firstSource(target, -1);
    for (let day = this.#firstSource(target, 1); day <= last; day += 1) {
      if (day !== target && rollDay(day, roll, open) === target) sources.push(day);
    }
    return sources;
  }

  /** Skips closed days that are too far from an open one; null if no open day follows. */
  pastLostDays(day: CivilDay, direction: Direction): CivilDay | null {
    const { open } = this.#rule;
    if (direction > 0) {
      const reopens = open.next(day, day + SEARCH_DAYS);
      return reopens === null ? null : Math.max(day + 1, reopens - MAX_ROLL_DAYS);
    }
    const reopens = open.previous(day, day - SEARCH_DAYS);
    return reopens === null ? null : Math.min(day - 1, reopens + MAX_ROLL_DAYS);
  }

  #wallBeyond(from: Instant, direction: Direction): WallMs {
    const { zone, dst } = this.#rule;
    return direction > 0 ? firstWallAfter(zone, from, dst.overlap) : firstWallAfter(zone, from - 1, dst.overlap) - 1;
  }

  /** The last target day on which a fire not beyond `limit` can land. */
  #lastTarget(firstTarget: CivilDay, limit: Instant, direction: Direction): CivilDay {
    if (!Number.isFinite(limit)) return firstTarget + direction * SEARCH_DAYS;
    return Math.floor(this.#wallBeyond(limit - direction, direction) / DAY_MS) + direction;
  }

  /** The first day, in the direction of the search, that can move to `target` or beyond: the end of the closed run. */
  #firstSource(target: CivilDay, direction: Direction): CivilDay {
    const { open } = this.#rule;
    if (direction > 0) {
      const farthest = target - MAX_ROLL_DAYS;
      return (open.previous(target - 1, farthest) ?? farthest - 1) + 1;
    }
    const farthest = target + MAX_ROLL_DAYS;
    return (open.next(target + 1, farthest) ?? farthest + 1) - 1;
  }

  /** This day or the first one beyond it that can have fires. One day of slack, since a clock can go back over midnight. */
  #dayWithFires(day: CivilDay, direction: Direction): CivilDay | null {
    const { zone } = this.#rule;
    if (direction > 0) {
      const fire = this.#raw.nextNominal(startOfDay(zone, day) - 1);
      return fire === NEVER ? null : Math.max(day, zone.localDay(fire) - 1);
    }
    const fire = this.#raw.previousNominal(endOfDay(zone, day));
    return fire === NEVER ? null : Math.min(day, zone.localDay(fire) + 1);
  }

  /** The first wall reading, in the search's direction and not before `edge`, that a fire of `day` has on `target`. */
  #wallOn(day: CivilDay, target: CivilDay, edge: WallMs | null, direction: Direction): WallMs | null {
    const { zone, dst } = this.#rule;
    const shift = (target - day) * DAY_MS;
    let from = edge ?? (direction > 0 ? target * DAY_MS : (target + 1) * DAY_MS - 1);
    for (;;) {
      const wall = this.#firstWallOn(day, from - shift, direction);
      if (wall === null || dst.gap !== "skip") return wall === null ? null : wall + shift;
      const reading = zone.read(wall + shift);
      if (reading.kind !== "gap") return wall + shift;
      from = zone.toWall(direction > 0 ? reading.instant : reading.instant - 1);
    }
  }

  /** The smallest wall reading of a fire of the day that is >= from, or the largest <= from, by direction. */
  #firstWallOn(day: CivilDay, from: WallMs, direction: Direction): WallMs | null {
    let found: WallMs | null = null;
    for (const segment of segmentsOfDay(this.#rule.zone, day)) {
      const edge = from - segment.offsetMs;
      const fire =
        direction > 0
          ? this.#raw.nextNominal(Math.max(segment.from, edge) - 1)
          : this.#raw.previousNominal(Math.min(segment.to - 1, edge) + 1);
      if (fire === NEVER || fire < segment.from || fire >= segment.to) continue;
      const wall = fire + segment.offsetMs;
      if (found === null || (wall - found) * direction < 0) found = wall;
    }
    return found;
  }

  #firesOn(day: CivilDay, lowest: WallMs, highest: WallMs): Instant[] {
    const fires: Instant[] = [];
    for (const { from, to, offsetMs } of segmentsOfDay(this.#rule.zone, day)) {
      const last = Math.min(to - 1, highest - offsetMs);
      let fire = this.#raw.nextNominal(Math.max(from, lowest - offsetMs) - 1);
      while (fire !== NEVER && fire <= last && fires.length < MAX_ORIGINS) {
        fires.push(fire);
        fire = this.#raw.nextNominal(fire);
      }
    }
    return fires;
  }
}
