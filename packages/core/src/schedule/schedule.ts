import type { DurationMs, Instant } from "../time/instant.js";
import { FIRST_INSTANT, LAST_INSTANT, NEVER } from "../zone/instant-range.js";
import type { CompiledSchedule, Fire, MergedFire, RemovedFire, RemovedRange } from "./compiled.js";
import type { FireSequence } from "./fire-sequence.js";
import { mergedAt, mergedFires } from "./merged-fires.js";
import { type CalendarLayer, removedFires } from "./removed-fires.js";
import { removedRange } from "./removed-range.js";

/** A sequence of fires with its jitter. */
export class Schedule implements CompiledSchedule {
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

  mergedBetween(from: Instant, to: Instant, most: number): MergedFire[] {
    if (this.#calendars === null || !this.#isRolled) return [];
    return mergedFires(this.#fires, this.#calendars, { from: Math.ceil(from), to: Math.floor(to), most });
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
