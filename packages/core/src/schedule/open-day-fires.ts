import type { CivilDay } from "../calendar/civil-day.js";
import type { OpenDays } from "../calendar/open-days.js";
import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { Zone } from "../zone/zone.js";
import type { FireSequence } from "./fire-sequence.js";
import { endOfDay, startOfDay } from "./local-day.js";

/**
 * How far a search goes through closed days before it answers "never", counted from the first fire it meets, so that a
 * schedule that starts far away is found from everywhere. Leap days that share a weekday are up to 40 years apart.
 */
export const SEARCH_YEARS = 50;
export const SEARCH_DAYS = SEARCH_YEARS * 366;

/** The fires that fall on open days; the others are left out. */
export class OpenDayFires implements FireSequence {
  readonly #raw: FireSequence;
  readonly #zone: Zone;
  readonly #open: OpenDays;

  constructor(raw: FireSequence, zone: Zone, open: OpenDays) {
    this.#raw = raw;
    this.#zone = zone;
    this.#open = open;
  }

  /** `limit` ends the search early: nothing later is of interest. */
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
      if (this.#cameFrom(day + 1, fire)) fire = this.#raw.previousNominal(fire);
      else {
        const reopens = this.#open.previous(day - 1, horizon);
        if (reopens === null) return NEVER;
        fire = this.#raw.previousNominal(Math.min(fire, endOfDay(this.#zone, reopens)));
      }
    }
    return NEVER;
  }

  notesAt(nominal: Instant): ReturnType<FireSequence["notesAt"]> {
    return this.#raw.notesAt(nominal);
  }

  /** A clock that goes back over midnight (St. John's until 2011) enters an open day once more after `fire`. */
  #returnsTo(day: CivilDay, fire: Instant): boolean {
    return this.#open.isOpen(day) && endOfDay(this.#zone, day) > fire;
  }

  /** The same, seen from the second pass: an open day had already begun before `fire`. */
  #cameFrom(day: CivilDay, fire: Instant): boolean {
    return this.#open.isOpen(day) && startOfDay(this.#zone, day) < fire;
  }
}
