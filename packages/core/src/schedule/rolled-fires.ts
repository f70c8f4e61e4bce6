import type { Calendar } from "../calendar/calendar.js";
import { wallText } from "../cron/wall-text.js";
import { type Instant, NEVER } from "../time/instant.js";
import type { FireNote } from "./compiled.js";
import { countLandings } from "./count-landings.js";
import type { FireSequence } from "./fire-sequence.js";
import { endOfDay, startOfDay } from "./local-day.js";
import { type Direction, MovedFires, type RollRule } from "./moved-fires.js";
import { OpenDayFires, SEARCH_DAYS } from "./open-day-fires.js";

/**
 * Fires on open days stay; a fire on a closed day moves to the open day that `roll` names, at the same wall time, and merges
 * with a fire that is already there.
 *
 * Moved fires mix with those of their target day and may pass one another, so the sequence cannot be walked fire by
 * fire. It can be walked by target day, because rolling never reverses the order of days: the closed days that move to
 * one day are neighbours. So a search finds some fire beyond its start as a bound, then the first unmoved and the first moved
 * fire up to it; for the latter it computes the first wall time after the start of each closed day in range. It never
 * enumerates the fires of a day, so a schedule for every second costs as much as a daily one.
 */
export class RolledFires implements FireSequence {
  readonly #raw: FireSequence;
  readonly #rule: RollRule;
  readonly #unmoved: OpenDayFires;
  readonly #moved: MovedFires;

  constructor(raw: FireSequence, rule: RollRule) {
    this.#raw = raw;
    this.#rule = rule;
    this.#unmoved = new OpenDayFires(raw, rule.zone, rule.open);
    this.#moved = new MovedFires(raw, rule);
  }

  nextNominal(after: Instant): Instant {
    const bound = this.#someFireBeyond(after, 1);
    const unmoved = this.#unmoved.nextNominal(after, bound);
    const moved = this.#moved.nearest(after, unmoved === NEVER ? bound : unmoved, 1);
    return moved === NEVER || (unmoved !== NEVER && unmoved < moved) ? unmoved : moved;
  }

  previousNominal(before: Instant): Instant {
    const bound = this.#someFireBeyond(before, -1);
    const unmoved = this.#unmoved.previousNominal(before, bound);
    const moved = this.#moved.nearest(before, unmoved === NEVER ? bound : unmoved, -1);
    return moved === NEVER || (unmoved !== NEVER && unmoved > moved) ? unmoved : moved;
  }

  countBetween(after: Instant, before: Instant): number {
    const parts = { raw: this.#raw, rule: this.#rule, unmoved: this.#unmoved, moved: this.#moved };
    return this.#unmoved.countBetween(after, before) + countLandings(parts, after, before);
  }

  notesAt(nominal: Instant): readonly FireNote[] {
    const origins = this.#moved.originsOf(nominal);
    const stays = this.#unmoved.nextNominal(nominal - 1, nominal) === nominal;
    const notes: FireNote[] = stays ? [...this.#raw.notesAt(nominal)] : [];
    origins.forEach((from, index) => {
      const calendar = this.#closing(from)?.name ?? "";
      if (stays || index > 0) notes.push({ kind: "merged", from, calendar });
      else notes.push({ kind: "rolled", from, calendar }, ...this.#clockNotes(nominal, from));
    });
    return notes;
  }

  #closing(fire: Instant): Calendar | null {
    return this.#rule.open.closedBy(this.#rule.zone.localDay(fire));
  }

  /** How a clock change on the target day affected a moved fire. */
  #clockNotes(nominal: Instant, from: Instant): FireNote[] {
    const wall = this.#moved.wallOf(from);
    if (wall === null) return [];
    const reading = this.#rule.zone.read(wall);
    if (reading.kind === "gap") return [{ kind: "gap", wallTime: wallText(Math.floor(wall / 1000)) }];
    if (reading.kind === "overlap") return [{ kind: "overlap", pass: nominal === reading.first ? "first" : "second" }];
    return [];
  }

  /** Any fire of this sequence beyond `from`; an infinity if the search finds none. */
  #someFireBeyond(from: Instant, direction: Direction): Instant {
    const { zone, open } = this.#rule;
    let fire = direction > 0 ? this.#raw.nextNominal(from) : this.#raw.previousNominal(from);
    const horizon = zone.localDay(fire) + direction * SEARCH_DAYS;
    while (fire !== NEVER) {
      const day = zone.localDay(fire);
      if (open.isOpen(day)) return fire;
      const image = this.#moved.imageOf(fire);
      if (image !== NEVER && (image - from) * direction > 0) return image;
      const onward = image === NEVER ? this.#moved.pastLostDays(day, direction) : day + direction;
      if (onward === null || (onward - horizon) * direction > 0) break;
      fire =
        direction > 0
          ? this.#raw.nextNominal(Math.max(fire, startOfDay(zone, onward) - 1))
          : this.#raw.previousNominal(Math.min(fire, endOfDay(zone, onward)));
    }
    return direction * Infinity;
  }
}
