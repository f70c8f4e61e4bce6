import type { OpenDays } from "../calendar/open-days.js";
import { type Instant, NEVER } from "../time/instant.js";
import { type CivilDay, DAY_MS } from "../zone/civil.js";
import type { Zone } from "../zone/zone.js";
import type { FireSequence } from "./fire-sequence.js";
import { endOfDay, startOfDay } from "./local-day.js";

/**
 * How far a search passes through closed days before its result is "never", counted from the first fire that it finds, so
 * that it finds a schedule that starts far away. Leap days that share a weekday are up to 40 years apart.
 */
export const SEARCH_YEARS = 50;
export const SEARCH_DAYS = SEARCH_YEARS * 366;

/** The fires on open days, without the others. */
export class OpenDayFires implements FireSequence {
  readonly #raw: FireSequence;
  readonly #zone: Zone;
  readonly #open: OpenDays;

  constructor(raw: FireSequence, zone: Zone, open: OpenDays) {
    this.#raw = raw;
    this.#zone = zone;
    this.#open = open;
  }

  /** `limit` ends the search early. */
  nextNominal(after: Instant, limit: Instant = Infinity): Instant {
    let fire = this.#raw.nextNominal(after);
    const horizon = this.#zone.localDay(fire) + SEARCH_DAYS;
    while (fire !== NEVER && fire <= limit) {
      const day = this.#zone.localDay(fire);
      if (this.#open.isOpen(day)) return fire;
      if (this.#returnsTo(day - 1, fire)) fire = this.#raw.nextNominal(fire);
      else {
        const reopens = this.#open.next(day + 1, horizon);
        if (reopens === null) return NEVER;
        fire = this.#raw.nextNominal(Math.max(fire, startOfDay(this.#zone, reopens) - 1));
      }
    }
    return NEVER;
  }

  previousNominal(before: Instant, limit: Instant = -Infinity): Instant {
    let fire = this.#raw.previousNominal(before);
    const horizon = this.#zone.localDay(fire) - SEARCH_DAYS;
    while (fire !== NEVER && fire >= limit) {
      const day = this.#zone.localDay(fire);
      if (this.#open.isOpen(day)) return fire;
      if (this.#hasLeft(day + 1, fire)) fire = this.#raw.previousNominal(fire);
      else {
        const reopens = this.#open.previous(day - 1, horizon);
        if (reopens === null) return NEVER;
        fire = this.#raw.previousNominal(Math.min(fire, endOfDay(this.#zone, reopens)));
      }
    }
    return NEVER;
  }

  /** Counts each series of open days at once, between clock changes, where a local day is one period of time. */
  countBetween(after: Instant, before: Instant): number {
    const first = this.#raw.nextNominal(after);
    if (first === NEVER) return 0;
    let count = 0;
    for (let at = first; at < before;) {
      const span = this.#zone.spanAt(Math.floor(at / 1000));
      const end = Math.min(span.end * 1000, before);
      count += this.#countWithin(at, end, span.offset * 1000);
      at = end;
    }
    return count;
  }

  notesAt(nominal: Instant): ReturnType<FireSequence["notesAt"]> {
    return this.#raw.notesAt(nominal);
  }

  /** The fires with from <= fire < to, over which the offset holds. */
  #countWithin(from: Instant, to: Instant, offsetMs: number): number {
    const lastDay = Math.floor((to - 1 + offsetMs) / DAY_MS);
    let count = 0;
    let day = this.#open.next(Math.floor((from + offsetMs) / DAY_MS), lastDay);
    while (day !== null) {
      let closes = day + 1;
      while (closes <= lastDay && this.#open.isOpen(closes)) closes += 1;
      const start = Math.max(from, day * DAY_MS - offsetMs);
      count += this.#raw.countBetween(start - 1, Math.min(to, closes * DAY_MS - offsetMs));
      day = this.#open.next(closes + 1, lastDay);
    }
    return count;
  }

  /** A clock that goes back over midnight (St. John's until 2011) returns to an open day after `fire`. */
  #returnsTo(day: CivilDay, fire: Instant): boolean {
    return this.#open.isOpen(day) && endOfDay(this.#zone, day) > fire;
  }

  /** The mirror of it for the search backwards: an open day had already begun before `fire`. */
  #hasLeft(day: CivilDay, fire: Instant): boolean {
    return this.#open.isOpen(day) && startOfDay(this.#zone, day) < fire;
  }
}
