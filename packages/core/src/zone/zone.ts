import type { DstPolicy } from "../schedule/spec.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";
import { type CivilDate, SECONDS_PER_DAY, civilDateOf } from "./civil.js";
import type { OffsetSpan, OffsetTable } from "./zone-offsets.js";

/**
 * A wall-clock reading without its zone: the instant at which UTC shows it. 2026-03-08T02:30 is
 * `Date.UTC(2026, 2, 8, 2, 30)` in every zone.
 */
export type WallMs = number;

/** The instants at which a wall clock shows a reading. */
export type WallReading =
  | { readonly kind: "unique"; readonly instant: Instant }
  /** The clock jumped over the reading; `instant` is the first one after the jump. */
  | { readonly kind: "gap"; readonly instant: Instant }
  | { readonly kind: "overlap"; readonly first: Instant; readonly second: Instant };

/** Offsets are shorter than a day, so every instant that can show a reading lies within a day of it. */
const REACH_SECONDS = SECONDS_PER_DAY;

/** A time zone: converts instants to wall-clock readings and back. Never depends on the zone of the host. */
export class Zone {
  /** As the user wrote it. */
  readonly name: string;
  /** The name in the zone data; equal for links to the same zone. */
  readonly canonicalName: string;
  readonly #table: OffsetTable;

  constructor(name: string, canonicalName: string, table: OffsetTable) {
    this.name = name;
    this.canonicalName = canonicalName;
    this.#table = table;
  }

  /** The span of constant offset around an instant, in seconds. For evaluators; other callers use `offsetAt`. */
  spanAt(utcSeconds: number): OffsetSpan {
    return this.#table.spanAt(utcSeconds);
  }

  /** The difference of the wall-clock reading and the instant; positive east of Greenwich. */
  offsetAt(instant: Instant): DurationMs {
    return this.#table.spanAt(Math.floor(instant / 1000)).offset * 1000;
  }

  toWall(instant: Instant): WallMs {
    return instant + this.offsetAt(instant);
  }

  /** The local date as days since 1970-01-01. */
  localDay(instant: Instant): number {
    return Math.floor(this.toWall(instant) / (SECONDS_PER_DAY * 1000));
  }

  localDate(instant: Instant): CivilDate {
    return civilDateOf(this.localDay(instant));
  }

  /** When the wall clock shows a reading: once, never (a gap) or twice (an overlap). */
  read(wall: WallMs): WallReading {
    const seconds = Math.floor(wall / 1000);
    let span = this.#table.spanAt(seconds - REACH_SECONDS);
    while (seconds - span.offset >= span.end) {
      const change = span.end;
      span = this.#table.spanAt(change);
      if (seconds - span.offset < change) return { kind: "gap", instant: change * 1000 };
    }
    const first = wall - span.offset * 1000;
    if (span.shiftOut >= 0 || seconds - span.offset < span.end + span.shiftOut)
      return { kind: "unique", instant: first };
    return { kind: "overlap", first, second: first - span.shiftOut * 1000 };
  }

  /**
   * The one instant that stands for a reading: the first after a gap and the first pass of an overlap, unless the
   * policy says otherwise; NEVER for a reading in a gap under `gap: "skip"`. `both` has no single answer: it means `first`.
   */
  toInstant(wall: WallMs, policy: DstPolicy = {}): Instant {
    const reading = this.read(wall);
    if (reading.kind === "unique") return reading.instant;
    if (reading.kind === "gap") return policy.gap === "skip" ? NEVER : reading.instant;
    return policy.overlap === "second" ? reading.second : reading.first;
  }
}
