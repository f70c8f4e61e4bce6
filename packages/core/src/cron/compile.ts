import type { FireNote } from "../schedule/compiled.js";
import type { DstPolicy } from "../schedule/spec.js";
import { FIRST_INSTANT, type Instant, LAST_INSTANT, NEVER } from "../time/instant.js";
import type { OffsetSpan } from "../zone/zone-offsets.js";
import { resolveZone, type Zone } from "../zone/zone.js";
import { type CronFields, type DayMatch, isFixedTime } from "./fields.js";
import { parseCronWithDays } from "./parse.js";
import { WallPattern } from "./wall-pattern.js";
import { wallText } from "./wall-text.js";

export interface CronOptions {
  /** IANA name; UTC when absent. */
  readonly timeZone?: string;
  readonly dayMatch?: DayMatch;
  /** The defaults depend on the kind of the expression: fixed-time or wildcard. */
  readonly dst?: DstPolicy;
}

/** How a clock change affected a fire. */
export type ClockNote = Extract<FireNote, { kind: "gap" | "overlap" }>;

/** Parses an expression and binds it to a zone. Throws `cron_invalid`, `cron_never_fires` or `time_zone_unknown`. */
export function compileCron(expression: string, options: CronOptions = {}): CompiledCron {
  const { fields, days } = parseCronWithDays(expression, options.dayMatch ?? "or");
  const zone = resolveZone(options.timeZone ?? "UTC");
  return new CompiledCron(fields, new WallPattern(fields, days), zone, options.dst ?? {});
}

/** Offsets stay below a day: every instant that shows a reading lies within a day of it. */
const REACH_SECONDS = 86_400;
/**
 * Under `gap: "skip"` a rule can name exactly the time that the clock skips each year. After this many gaps in a row the
 * search ends: within 28 years every date has fallen on every weekday.
 */
const MAX_GAPS_IN_A_ROW = 32;

/**
 * A cron expression in a zone. `next` and `previous` allocate nothing, and each visits a bounded number of months and
 * clock changes. They search the years 0001 to 9999.
 */
export class CompiledCron {
  readonly fields: CronFields;
  readonly zone: Zone;
  /** How many spans of constant offset the searches have visited so far; tests hold it to a bound. */
  spansVisited = 0;

  readonly #pattern: WallPattern;
  readonly #firesAfterGap: boolean;
  readonly #firesInFirstPass: boolean;
  readonly #firesInSecondPass: boolean;

  constructor(fields: CronFields, pattern: WallPattern, zone: Zone, dst: DstPolicy) {
    const fixed = isFixedTime(fields);
    const overlap = dst.overlap ?? (fixed ? "first" : "both");
    this.fields = fields;
    this.zone = zone;
    this.#pattern = pattern;
    this.#firesAfterGap = (dst.gap ?? (fixed ? "after" : "skip")) === "after";
    this.#firesInFirstPass = overlap !== "second";
    this.#firesInSecondPass = overlap !== "first";
  }

  /** Months and spans of constant offset visited so far. */
  get steps(): number {
    return this.spansVisited + this.#pattern.monthsVisited;
  }

  /** The first fire strictly after an instant, or NEVER. */
  next(after: Instant): Instant {
    if (!(after < LAST_INSTANT)) return NEVER;
    const second = Math.floor(Math.max(after, FIRST_INSTANT - 1) / 1000);
    const fire = this.#fireAfter(second) * 1000;
    return fire <= LAST_INSTANT ? fire : NEVER;
  }

  /** The last fire strictly before an instant, or NEVER. */
  previous(before: Instant): Instant {
    if (!(before > FIRST_INSTANT)) return NEVER;
    const second = Math.ceil(Math.min(before, LAST_INSTANT + 1) / 1000);
    const fire = this.#fireBefore(second) * 1000;
    return fire >= FIRST_INSTANT ? fire : NEVER;
  }

  /**
   * How many fires lie strictly between two instants. Visits each span of constant offset and each month once, never
   * single fires: a year costs the same for every expression.
   */
  countBetween(after: Instant, before: Instant): number {
    const to = Math.ceil(Math.min(before, LAST_INSTANT + 1) / 1000);
    let count = 0;
    for (let at = Math.floor(Math.max(after, FIRST_INSTANT - 1) / 1000) + 1; at < to;) {
      const span = this.zone.spanAt(at);
      const end = Math.min(span.end, to);
      count += this.#countWithin(span, at, end);
      at = end;
    }
    return count;
  }

  /** How a clock change affected the fire at an instant; null if none did, or if nothing fires then. */
  noteAt(fire: Instant): ClockNote | null {
    if (this.next(fire - 1) !== fire) return null;
    const second = fire / 1000;
    const span = this.zone.spanAt(second);
    if (second === span.start && span.shiftIn > 0 && this.#firesAfterGap) {
      const skipped = this.#pattern.from(span.start + span.offset - span.shiftIn);
      if (skipped < span.start + span.offset) return { kind: "gap", wallTime: wallText(skipped) };
    }
    if (second < span.start - span.shiftIn) return { kind: "overlap", pass: "second" };
    if (second >= span.end + span.shiftOut) return { kind: "overlap", pass: "first" };
    return null;
  }

  /** The fires of a span with from <= fire < to, in seconds, and one at its start for those that a gap before it skips. */
  #countWithin(span: OffsetSpan, from: number, to: number): number {
    this.spansVisited++;
    const { start, end, offset, shiftIn, shiftOut } = span;
    const first = this.#firesInSecondPass || shiftIn >= 0 ? from : Math.max(from, start - shiftIn);
    const last = this.#firesInFirstPass || shiftOut >= 0 ? to : Math.min(to, end + shiftOut);
    const count = this.#pattern.count(first + offset, last + offset);
    if (from !== start || shiftIn <= 0 || !this.#firesAfterGap) return count;
    const resumed = start + offset;
    const skipsFires = this.#pattern.from(resumed - shiftIn) < resumed;
    return skipsFires && this.#pattern.from(resumed) !== resumed ? count + 1 : count;
  }

  /** The first fire after a whole second, in seconds. Starts in the span of that second, so that the end of a gap is seen. */
  #fireAfter(after: number): number {
    let span = this.zone.spanAt(after);
    let reading = after + 1 + span.offset;
    for (let gaps = 0; gaps < MAX_GAPS_IN_A_ROW;) {
      this.spansVisited++;
      const { end, offset, shiftOut } = span;
      if (!this.#firesInSecondPass && span.shiftIn < 0) reading = Math.max(reading, span.start + offset - span.shiftIn);
      const match = this.#pattern.from(reading);
      const fire = match - offset;
      if (fire < (this.#firesInFirstPass || shiftOut >= 0 ? end : end + shiftOut)) return fire;
      const resumed = end + offset + shiftOut;
      if (match < resumed && shiftOut > 0) {
        if (this.#firesAfterGap) return end;
        gaps++;
      }
      if (match === Infinity && shiftOut >= 0) return Infinity;
      if (shiftOut >= 0 && fire > end + 2 * REACH_SECONDS) {
        span = this.zone.spanAt(match - REACH_SECONDS);
        reading = match;
      } else {
        span = this.zone.spanAt(end);
        reading = shiftOut < 0 ? resumed : Math.max(match, resumed);
      }
    }
    return Infinity;
  }

  /** The last fire before a whole second, in seconds: the mirror of the search forward. */
  #fireBefore(before: number): number {
    let span = this.zone.spanAt(before - 1);
    let reading = before - 1 + span.offset;
    for (let gaps = 0; gaps < MAX_GAPS_IN_A_ROW;) {
      this.spansVisited++;
      const { start, offset, shiftIn } = span;
      if (!this.#firesInFirstPass && span.shiftOut < 0)
        reading = Math.min(reading, span.end + offset + span.shiftOut - 1);
      const match = this.#pattern.upTo(reading);
      const fire = match - offset;
      if (fire >= (this.#firesInSecondPass || shiftIn >= 0 ? start : start - shiftIn)) return fire;
      const stopped = start + offset - shiftIn;
      if (match >= stopped && shiftIn > 0) {
        if (this.#firesAfterGap) return start;
        gaps++;
      }
      if (match === -Infinity && shiftIn >= 0) return -Infinity;
      if (shiftIn >= 0 && fire < start - 2 * REACH_SECONDS) {
        span = this.zone.spanAt(match + REACH_SECONDS);
        reading = match;
      } else {
        span = this.zone.spanAt(start - 1);
        reading = shiftIn < 0 ? stopped - 1 : Math.min(match, stopped - 1);
      }
    }
    return -Infinity;
  }
}
